#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace mpsprobe {

/// Text with colours of this program's own, which goes to the terminal as it is.
struct Styled {
  std::string_view text;
};

/// What a terminal does not act on: control characters but line ends and tabs become visible
/// escapes. Pure; accepts any bytes.
std::string harmless(std::string_view text);

namespace say_detail {

template <typename T>
auto shown(const T& value) {
  if constexpr (std::is_same_v<T, Styled>) {
    return value.text;
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return harmless(value);
  } else {
    return value;
  }
}

template <typename T>
using Shown = decltype(shown(std::declval<const std::remove_cvref_t<T>&>()));

}  // namespace say_detail

/// Prints like fmt::print, but never throws: that nobody reads, or that a terminal has gone, is no
/// reason to end a run. `command_line` looks at standard output once, at its end. Every text that
/// is an argument is made harmless; the format itself is this program's own.
template <typename... Arguments>
void say(std::FILE* stream, fmt::format_string<say_detail::Shown<Arguments>...> format,
         const Arguments&... arguments) {
  const std::string text = fmt::format(format, say_detail::shown(arguments)...);
  std::fwrite(text.data(), 1, text.size(), stream);
}

}  // namespace mpsprobe
