#pragma once

#include <string>
#include <string_view>

namespace mpsprobe {

/// A text in which stand-ins (variable_part.h) stand for values, with fewer of them: a list of
/// numbers, types or devices is one of its members ("[N, N]" is "[N]", "CPU, XPU and CUDA" is
/// "CPU..."), signs and units are parts of numbers, and a phrase that stands twice in a row stands
/// once. Work is linear in the text; never throws but for lack of memory; may be called from any
/// thread, as the next.
std::string merge_values(std::string_view text);

/// A text without the stand-ins in brackets behind what they are the values of ("size (N) of" is
/// "size of"), without places in the source in brackets, and without those at the end ("no such
/// mode: N" is "no such mode").
std::string without_asides(std::string text);

}  // namespace mpsprobe
