#pragma once

#include <string>
#include <string_view>

namespace mpsprobe {

/// The name of a class, function or image of Apple's GPU driver without the generation of chip that
/// it was built for: "AGXG16XFamilyBuffer" is "AGXFamilyBuffer", "AGXMetal13_3" is "AGXMetal",
/// "AGX::SpillInfoGen3" is "AGX::SpillInfo", "AGX::HAL300" is "AGX::HAL". Text without "AGX" comes
/// back as it is. What it gives is a subsequence of the text. Linear in it.
std::string without_chip(std::string_view text);

}  // namespace mpsprobe
