#pragma once

#include <string>
#include <string_view>

namespace mpsprobe {

/// A captured or quoted output as its program wrote it, as far as that shows: without terminal
/// escapes, without an empty line behind every line or one mark in front of every line ("ERROR: "),
/// and with the lines whole that a terminal or a page broke at its width (unwrap.h). Lines that
/// begin like a line of their own (a name and a colon, a stack's frame) stay so. Time linear in the
/// text's length. Throws only for lack of memory; may be called from any thread.
std::string as_written(std::string_view text);

/// What a process printed, of a text that somebody took from a page, a log or a terminal: as it was
/// written, without what a log put in front of its lines, with what pages and other languages write
/// in place of a character undone, and long lines whole that plainly go on. The same holds of it.
std::string printed_text(std::string_view pasted);

}  // namespace mpsprobe
