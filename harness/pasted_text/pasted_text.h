#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mpsprobe {

/// What becomes of lines that were broken on the way.
enum class BrokenLines : uint8_t { make_whole, leave };

/// What a process printed, of a text that somebody took from an issue, a log or a terminal: without
/// colours, Markdown's fences and escapes, HTML's tags and entities, marks of quotations, the edges
/// of boxes, and what a logger put in front of its lines (dates, levels, processes, "[rank0]: ",
/// "worker | "); and with the lines whole that a terminal or a page broke. A line was broken where
/// a known message goes on over its end, and where the lines of the text show a width (60 columns
/// or more) that they were broken at. What a program writes in front of its own messages stays.
///
/// Linear in the text but for its lines that end at the width. Untrusted input; throws only for
/// lack of memory; from any thread.
std::string failure_text(std::string_view pasted, BrokenLines broken = BrokenLines::make_whole);

/// The bytes at the front of a line that a logger, a quotation or a page put there.
size_t log_prefix_length(std::string_view line);

}  // namespace mpsprobe
