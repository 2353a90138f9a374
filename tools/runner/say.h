#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

namespace mpsprobe {

/// Prints like fmt::print, but never throws: that nobody reads, or that a terminal has gone, is no
/// reason to end a run. `command_line` looks at standard output once, at its end.
template <typename... Arguments>
void say(std::FILE* stream, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  const std::string text = fmt::format(format, std::forward<Arguments>(arguments)...);
  std::fwrite(text.data(), 1, text.size(), stream);
}

}  // namespace mpsprobe
