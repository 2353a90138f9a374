#include "reproducers/bundle/redaction/number_checks.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <string>

namespace mpsprobe {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

bool has_luhn_digit(std::string_view text) {
  int sum = 0;
  size_t digits = 0;
  for (size_t i = text.size(); i-- > 0;) {
    if (!is_digit(text[i])) continue;
    int value = text[i] - '0';
    if (digits++ % 2 == 1) value = value > 4 ? 2 * value - 9 : 2 * value;
    sum += value;
  }
  return digits >= 12 && digits <= 19 && sum % 10 == 0;
}

bool is_iban(std::string_view text) {
  std::string letters;
  for (char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      letters += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
  }
  if (letters.size() < 15 || letters.size() > 34) return false;
  std::rotate(letters.begin(), letters.begin() + 4, letters.end());
  int remainder = 0;
  for (char c : letters) {
    const int value = is_digit(c) ? c - '0' : c - 'A' + 10;
    remainder = (remainder * (value < 10 ? 10 : 100) + value) % 97;
  }
  return remainder == 1;
}

bool is_ipv6_of_a_machine(std::string_view text) {
  const std::string address(text.substr(0, text.find_first_of("%/")));
  std::array<unsigned char, 16> bytes{};
  if (inet_pton(AF_INET6, address.c_str(), bytes.data()) != 1) return false;
  const auto colons = std::count(address.begin(), address.end(), ':');
  const bool telling =
      address.size() >= 6 &&
      (address.starts_with("fe8") || address.starts_with("FE8") || address.starts_with('2') ||
       address.starts_with("fd") || address.starts_with("FD") || address.starts_with("::"));
  return std::any_of(address.begin(), address.end(), is_digit) && (colons > 2 || telling);
}

double entropy_of(std::string_view text) {
  std::array<size_t, 256> counts{};
  for (char c : text) ++counts[static_cast<unsigned char>(c)];
  double bits = 0;
  for (size_t count : counts) {
    if (count == 0) continue;
    const double share = static_cast<double>(count) / static_cast<double>(text.size());
    bits -= share * std::log2(share);
  }
  return bits;
}

}  // namespace mpsprobe
