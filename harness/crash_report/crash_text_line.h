#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "harness/stack/stack.h"

namespace mpsprobe {

// The lines of a crash report in text form (crash_text.h) that have a form of their own. Pure
// functions of untrusted text.

/// A frame as written; its image is known only once the list of images at the end was read.
struct TextFrame {
  StackFrame frame;
  uint64_t address = 0;
};

struct TextImage {
  uint64_t begin = 0;
  uint64_t end = 0;
  std::string name;
  std::string id;
};

/// "3   libobjc.A.dylib   0x00007fff5 objc_msgSend + 32 (objc.mm:7)", or nothing. `frame.offset` is
/// from the image's load address where the line names it, else the address itself.
std::optional<TextFrame> read_frame_line(std::string_view line);

/// "0x10dc56000 - 0x10e111000 +com.apple.Finder (10.8.3) <UUID> /path/Finder", or nothing.
std::optional<TextImage> read_image_line(std::string_view line);

/// Decimal digits at the front of `text`, taken off it.
std::optional<uint64_t> take_number(std::string_view& text);

/// Takes `prefix` off the front of `text`; false where it does not stand there.
bool take_prefix(std::string_view& text, std::string_view prefix);

}  // namespace mpsprobe
