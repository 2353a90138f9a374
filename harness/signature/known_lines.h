#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "harness/signature/rules.h"

namespace mpsprobe {

/// A part of a text, in bytes.
struct TextPart {
  size_t begin = 0;
  size_t end = 0;
};

/// What in `text` is a rule's own: the fragments of known texts, and the anchors of the forms in
/// which runtimes tell of a failure, but not the messages in them. Of a title: what a rule puts in
/// front. In no order. At most kMostTextBytes of the text are looked at. Throws only for lack of
/// memory; from any thread.
std::vector<TextPart> words_of_rules(std::string_view text, const Rules& rules = Rules::standard());

/// What a line of a stack names, in bytes of the line.
struct FrameLine {
  size_t image_begin = 0;  ///< equal to its end: none
  size_t image_end = 0;
  size_t symbol_begin = 0;
  size_t symbol_end = 0;
};

/// Whether a line is one of a stack as debuggers, crash reports, C libraries, sanitizers and Python
/// print it, and what it names. Never throws but for lack of memory; from any thread.
bool is_frame_line(std::string_view line, FrameLine& frame);

}  // namespace mpsprobe
