#pragma once

#include <string>
#include <string_view>

#include "harness/record/process_record.h"

namespace mpsprobe {

/// The thread that a failure is about: the crashed one, else the one that was deepest in something;
/// nullptr where none was in anything. Points into `recorder`.
const ThreadPlace* telling_thread(const RecorderReading& recorder);

/// Where a process was, in words that are the same in every run: "launching linear/nograph",
/// "in tear-down". `path` is the word of the cell's path, or empty to leave it out. Says nothing of
/// thread numbers, iterations or addresses.
std::string whereabouts(const RecorderReading& recorder, std::string_view path = {});

/// As whereabouts(), and in every phase with the operation, where the recorder names one:
/// "in tear-down of linear/nograph". For hangs.
std::string whereabouts_of_hang(const RecorderReading& recorder, std::string_view path);

/// "in tear-down", "at the interpreter's end".
std::string_view words_for(Phase phase);

/// ", in tear-down" for a death outside the run, "" for one in the run: what is added to a title
/// that already says what failed.
std::string phase_suffix(Phase phase);

}  // namespace mpsprobe
