#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "harness/signature/rules.h"

namespace mpsprobe {

/// Where in `text`, in bytes, a rule reads a known text or the form in which a runtime tells of a
/// failure: a place on each line that it reads, in order. At most kMostTextBytes of the text are
/// looked at. Throws only for lack of memory; from any thread.
std::vector<size_t> places_that_rules_read(std::string_view text,
                                           const Rules& rules = Rules::standard());

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
