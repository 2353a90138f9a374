#pragma once

#include <cstddef>
#include <string_view>

namespace mpsprobe {

/// True where `fd` is a terminal that can take a line back (TERM is not dumb).
bool is_screen(int fd);

/// True where `fd` is such a terminal and NO_COLOR does not say otherwise.
bool wants_colour(int fd);

/// Shows a line on standard error in place of the one that it showed before; "" takes that away.
/// Does nothing where that is no such terminal.
void rewrite_line(std::string_view line);

/// Columns of the terminal that `fd` is: 80 where it does not say; 0 where it is none.
size_t screen_width(int fd);

}  // namespace mpsprobe
