#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mpsprobe {

/// What differs between two reports of one bug at the front of a text, and what stands for it in a
/// title.
struct VariablePart {
  size_t length = 0;  ///< in characters; 0: nothing varies here
  std::string stand_in;
};

/// Looks at `rest`, in front of which `before` stands, of normalised text: numbers, sizes, UUIDs,
/// addresses ("N"), element types ("<type>"), URLs ("<url>"), pixel formats, the numbers and types
/// in a kernel's name (kernel_mul_mm_q4_0_f32 is kernel_mul_mm_N), names in brackets that belong
/// to a noun (Function(main0) is Function(N)) or stand behind one ("argument tex[2]" is "argument
/// N"), names of the user's own ("N"), files of a user's data ("<file>"). Names that tell bugs
/// apart, of operators, methods and libraries, stay. Bounded work; never throws but for lack of
/// memory.
VariablePart variable_part(std::string_view rest, std::string_view before);

}  // namespace mpsprobe
