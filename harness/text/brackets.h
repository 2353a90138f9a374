#pragma once

#include <string>
#include <string_view>

namespace mpsprobe {

/// `text` without the brackets at its ends whose partner was cut off: one that opens it and is
/// never closed, one that closes it and was never opened. Brackets around several words in front
/// are a heading's, whole or cut: "[a check of x] y" and "a check of x] y" are "a check of x: y".
/// Linear. Throws only for lack of memory; may be called from any thread.
std::string without_lone_brackets(std::string_view text);

}  // namespace mpsprobe
