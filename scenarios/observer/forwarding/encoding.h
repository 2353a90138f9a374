#pragma once

#include <cstddef>
#include <string_view>

namespace mpsprobe::observer {

/// How a method is called, from the types that the Objective-C runtime keeps of it.
struct CallShape {
  bool object_result = false;  ///< returns an object
  bool memory_result =
      false;  ///< the caller says where the result goes, before all arguments (x86-64)
  /// How much of the caller's stack the arguments may take: a multiple of 16, at least as much as
  /// they do.
  size_t stack_bytes = 0;
  bool known = false;  ///< false: the types are not understood, and the method must not be hooked
};

/// `types`: as method_getTypeEncoding gives them, for example "v24@0:8Q16". Never throws. Any
/// thread.
CallShape shape_of(std::string_view types) noexcept;

}  // namespace mpsprobe::observer
