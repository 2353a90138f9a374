#pragma once

#include <cstddef>
#include <string_view>

namespace mpsprobe {

// What logs put in front of a message, token by token. All look at a bounded part of what they are
// given, never throw, and may be called from any thread.

/// A level's name that stands out: "ERROR", "[info]", "warn:", "E".
bool is_level(std::string_view token);

/// Whether what a log put in front of a line calls it an error: "12:00:00 lanes[3] ERR ", "E1122 ".
bool tells_of_error(std::string_view prefix);

/// Digits, points and brackets alone, which may begin a message: no date such as "22.11.2026".
bool is_number(std::string_view token);

/// "2025-03-01", "22/Nov/2026", "12:00:00.123+0100", "[12:00:00]", "E0301"; a long number may be
/// one as well.
bool is_time(std::string_view token);

/// "name[12:34]", "name(12,0x3)".
bool is_process(std::string_view token);

/// "file.mm:43:0:", "op_kernel.cc:1830]", "<stdin>:5:10:", "package.module:function:61".
bool is_source_place(std::string_view token);

/// The characters of a tag at the front of `line`: "[General] ", "[INFO] ", "(EngineCore pid=12) ",
/// not "[metal::malloc] ", which is part of the message. 0: none.
size_t tag_length(std::string_view line);

/// The bytes at the front of a line of output that a logger or a mail program put there, spaces
/// included: dates, processes, columns ("worker-1 | "), the level and the module behind a date,
/// marks of a quotation ("> "). What programs themselves begin their messages with ("ERROR: ",
/// "prog: ") is no part of it.
size_t log_prefix_length(std::string_view line);

}  // namespace mpsprobe
