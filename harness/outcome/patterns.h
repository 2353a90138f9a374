#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "harness/outcome/diagnosis.h"

namespace mpsprobe {

/// Where a pattern has to begin to count.
enum class Place : uint8_t {
  anywhere,
  line_start,    ///< first on its line
  after_source,  ///< first on its line, or after "file.mm:78:", "-[Class method:]:78:", "prog[1:2]"
  unwarned,      ///< anywhere but after "Warning: " on the same line
};

/// How the rest of a title is read from the text after (or around) the pattern.
enum class Reading : uint8_t {
  none,          ///< the title is complete
  quoted,        ///< the message in quotes, or up to " at line "; else the method in front of it
  until_failed,  ///< up to "' failed" (glibc's assert)
  asserted,      ///< the condition, up to the function, file or place (macOS's assert and others)
  thrown,        ///< 'type' what(): message
  typed,         ///< type: message
  reason,        ///< 'name', reason: 'message'
  before,        ///< the line in front of the pattern
  word_before,   ///< the last word of it
  line,          ///< the rest of the line
  token,         ///< the next word
  ggml,          ///< the condition, with the file where it says nothing
  panic,         ///< past the place in the source, to the end of the line that says more
  not_an_echo,   ///< the rest of the line without a function in front and advice behind, unless it
                 ///< only names the signal that a handler caught
  cause,         ///< the words in front of the error's number, on one of the lines that follow
  graph,         ///< the rest of the line, and the operation that its location names
  above,         ///< the same of the line above, if there is one
  symbol,        ///< the next word, without brackets and quotes
  between,       ///< between the first fragment and the last, where no quote begins
  named,         ///< from the first fragment to the quote that closes it
};

/// One row of the table: literal fragments (of normalised text) that occur in this order within
/// `window` characters, and what they mean.
struct Pattern {
  TextClass text_class;
  std::string_view title;
  std::array<std::string_view, 4> fragments;
  Place place = Place::anywhere;
  Reading reading = Reading::none;
  bool known = true;
  size_t window = 600;
  bool passes_on = false;  ///< the message may be another library's, quoted: then it alone counts
};

/// The title of a command buffer that ended since another process made the GPU restart: no failure
/// of the process that prints it.
constexpr std::string_view kInnocentVictim = "command buffer: Innocent Victim of a GPU error";

/// The title of a library that could not be loaded, before its name.
constexpr std::string_view kCannotLoad = "cannot load ";

/// The title of an error of MPSGraph's compiler, before its text.
constexpr std::string_view kGraphError = "MPSGraph: ";

/// The title of an error that ends Python's interpreter, before its text.
constexpr std::string_view kPythonFatal = "Python: ";

/// Misuses that a library finds, and that its functions tell as well (misuse_frames.h).
constexpr std::string_view kLockMisuse = "lock misuse detected by the system";
constexpr std::string_view kOnAnotherQueue =
    "libdispatch: Block was not expected to execute on this queue";
constexpr std::string_view kOverResume = "libdispatch: Over-resume of an object";
constexpr std::string_view kPureVirtual = "pure virtual function called";
constexpr std::string_view kRecursiveInitialisation =
    "recursive initialisation of a function's static variable";
constexpr std::string_view kReleaseOfSuspended = "libdispatch: Release of a suspended object";
constexpr std::string_view kSyncOnOwnQueue =
    "dispatch_sync on a queue that the thread already owns";
constexpr std::string_view kNotAllocated = "malloc: pointer being freed was not allocated";
constexpr std::string_view kWeakReference =
    "objc: Cannot form weak reference to an object being deallocated";

/// How the name of an operation of MPSGraph begins in such an error.
constexpr std::string_view kGraphOperation = "'mps.";

/// All rows. Rows without a Reading go before the others where they share text. Static storage.
std::span<const Pattern> patterns();

}  // namespace mpsprobe
