#pragma once

#include <string_view>

namespace mpsprobe {

/// Whether the digits of a text, of which there are 12 to 19, have the check digit of ISO/IEC
/// 7812-1 (Luhn). Anything else in it is passed over.
bool has_luhn_digit(std::string_view text);

/// Whether the letters and digits of a text are an IBAN by ISO 13616: their remainder by 97 is 1.
bool is_iban(std::string_view text);

/// Whether a text is an address of IPv6 that names a machine, with or without a zone and a prefix
/// length. Neither "::1" nor what a name of C++ could be ("a::b") is one.
bool is_ipv6_of_a_machine(std::string_view text);

/// Bits of information a byte, by how often each byte stands in the text (Shannon): 0 to 8.
double entropy_of(std::string_view text);

}  // namespace mpsprobe
