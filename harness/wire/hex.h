#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mpsprobe {

/// The bytes in lower-case hexadecimal digits.
inline std::string hex(std::span<const uint8_t> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace mpsprobe
