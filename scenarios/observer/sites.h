#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "scenarios/observer/forwarding/frame.h"

namespace mpsprobe::observer {

/// Where a thread called a method: return addresses, the innermost first.
struct Site {
  static constexpr size_t kFrames = 8;
  std::array<uintptr_t, kFrames> frames{};
  uint32_t thread = 0;  ///< 0: nowhere yet
};

/// The caller of a method and its callers, as far as they keep frame pointers. Reads nothing but
/// the calling thread's stack, [.., stack_end).
Site site_of(const Frame& frame, uint32_t thread, uintptr_t stack_end);

/// Where the calling thread's stack ends; 0 where that cannot be told.
uintptr_t end_of_stack();

/// Whose code an address is of.
enum class Whose : uint8_t {
  unknown,    ///< no image's
  framework,  ///< Apple's, the observer's, a language's runtime
  torch,      ///< PyTorch's libraries
  program,    ///< any other
};
Whose whose(uintptr_t address);

/// Whether one of the frames is neither the observer's nor a framework's.
bool has_caller(const Site& site);

/// The calling thread's frames that are neither, by the unwinder, which is slow; `site` where there
/// are none.
Site unwound_callers(const Site& site);

struct NamedFrame {
  std::string function;    ///< or its address
  std::string image;       ///< the file's name
  bool framework = false;  ///< Apple's, the observer's, LibTorch's, a language's runtime
};

/// The frames by name. Where some are neither the observer's nor a framework's, those alone.
std::vector<NamedFrame> named(const Site& site);

}  // namespace mpsprobe::observer
