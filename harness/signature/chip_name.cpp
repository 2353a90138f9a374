#include "harness/signature/chip_name.h"

#include "harness/signature/ascii.h"

namespace mpsprobe {
namespace {

using ascii::at;
using ascii::digit;
using ascii::lower;
using ascii::upper;

bool word(char c) {
  return ascii::word(c) || c == '$';
}

// What names a chip in AGXG16XFamilyBuffer, AGXMetalG14X_B0, AGXMetal13_3, after its first letters.
size_t chip_length(std::string_view text) {
  size_t i = 0;
  if (at(text, 0) == 'G' && digit(at(text, 1))) {
    for (i = 1; digit(at(text, i)) || at(text, i) == '_' ||
                (upper(at(text, i)) && !lower(at(text, i + 1)));) {
      ++i;
    }
    return i;
  }
  while (digit(at(text, i)) || (at(text, i) == '_' && digit(at(text, i + 1)))) ++i;
  return i;
}

// Length of a generation at text[i] inside a name of AGX: "Gen3", "HAL300" (its digits), "G13X".
size_t generation_length(std::string_view text, size_t i) {
  const auto digits_from = [&](size_t from) {
    size_t end = from;
    while (digit(at(text, end))) ++end;
    return end - from;
  };
  const bool word_begins = i == 0 || !word(text[i - 1]) || text[i - 1] == '_';
  if (text.substr(i).starts_with("Gen")) {
    const size_t digits = digits_from(i + 3);
    return digits > 0 && !lower(at(text, i + 3 + digits)) ? 3 + digits : 0;
  }
  if (digit(text[i]) && i >= 3 && text.substr(i - 3, 3) == "HAL") return digits_from(i);
  if (text[i] == 'G' && (word_begins || lower(text[i - 1]))) {
    const size_t digits = digits_from(i + 1);
    if (digits < 2) return 0;
    size_t end = i + 1 + digits;
    if (upper(at(text, end)) && !lower(at(text, end + 1))) ++end;
    return lower(at(text, end)) ? 0 : end - i;
  }
  return 0;
}

}  // namespace

std::string without_chip(std::string_view text) {
  const bool agx = text.find("AGX") != std::string_view::npos;
  if (!agx) return std::string(text);
  std::string name;
  for (size_t i = 0; i < text.size();) {
    const bool begins = i == 0 || !word(text[i - 1]);
    size_t family = 0;
    if (begins || text[i - 1] == '_') {
      const std::string_view left = text.substr(i);
      family = left.starts_with("AGXMetal") ? 8 : left.starts_with("AGX") ? 3 : 0;
    }
    if (family > 0) {
      name += text.substr(i, family);
      i += family;
      i += chip_length(text.substr(i));
      continue;
    }
    if (const size_t length = generation_length(text, i); length > 0) {
      i += length;
      // A namespace that named nothing but the generation.
      if (name.ends_with("::") && text.substr(i).starts_with("::")) i += 2;
      continue;
    }
    name += text[i++];
  }
  return name;
}

}  // namespace mpsprobe
