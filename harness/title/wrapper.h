#pragma once

#include <cstddef>
#include <string_view>

namespace mpsprobe {

// What runtimes, programs and logs put in front of a message, on the same line of normalised text.
// All look at a bounded part of the line, never throw, and may be called from any thread.

/// The characters of one wrapper at the front of `line`, which is not empty: "RuntimeError: ",
/// "[General] ", "E0301 ", "** ", "libc++abi: ", a program's own "worker gave up: ". 0: none.
size_t wrapper_length(std::string_view line);

/// Up to behind the last word within `line` that a message follows: "Process left early:
/// RuntimeError: message", "terminating due to exception: message". 0: there is none.
size_t wrapper_length_within(std::string_view line);

}  // namespace mpsprobe
