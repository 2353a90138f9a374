#pragma once

#include <string>
#include <string_view>

namespace mpsprobe {

/// A name for files and folders that stands for `text`, a signature above all: letters of ASCII in
/// lower case, digits and single dashes, at most 61 bytes, never empty. It begins with what is
/// readable of the text and ends with 12 hexadecimal digits of its hash (FNV-1a, 64 bits), so that
/// two texts that read alike have names of their own. Any bytes; the same text gives the same name
/// on every system. Pure.
std::string slug(std::string_view text);

}  // namespace mpsprobe
