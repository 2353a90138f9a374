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

}  // namespace mpsprobe
