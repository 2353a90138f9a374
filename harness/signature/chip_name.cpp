#include "harness/signature/chip_name.h"

#include "harness/signature/shape.h"

namespace mpsprobe {
namespace {

// AGXG16XFamilyBuffer, AGXMetalG14X_B0, AGXMetal13_3: the family in parentheses, and the chip.
const Shape& family() {
  static const Shape shape(
      "(?<![A-Za-z0-9$])(AGX(?:Metal)?)"
      "(?:G(?=\\d)(?:[\\d_]|[A-Z](?![a-z]))*|(?:\\d|_(?=\\d))*)");
  return shape;
}

// Within a name of AGX: "Gen3", "HAL300" (its digits), "G13X".
const Shape& generation() {
  static const Shape shape(
      "Gen\\d++(?![a-z])|(?<=HAL)\\d+|"
      "(?:(?<![\\w$])|(?<=[_a-z]))G\\d{2,}+(?:[A-Z](?![a-z]))?+(?![a-z])");
  return shape;
}

}  // namespace

std::string without_chip(std::string_view text) {
  if (text.find("AGX") == std::string_view::npos) return std::string(text);
  std::string name;
  for (size_t i = 0; i < text.size();) {
    if (const auto chip = family().match(text, i)) {
      name += text.substr(i, chip->inner_end - i);
      i = chip->end;
    } else if (const auto removed = generation().match(text, i)) {
      i = removed->end;
      // A namespace that named nothing but the generation.
      if (name.ends_with("::") && text.substr(i).starts_with("::")) i += 2;
    } else {
      name += text[i++];
    }
  }
  return name;
}

}  // namespace mpsprobe
