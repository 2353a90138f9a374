#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace mpsprobe {

/// What kind of failure a text tells of. `assertion` is a check that ends the process by abort;
/// `abort_message` any other last words (LLVM ERROR, OMP: Error, a runtime's fatal message).
/// `out_of_memory` covers every resource limit of the device, the pool of streams among them.
enum class TextClass : uint8_t {
  assertion,
  exception,
  gpu_error,
  out_of_memory,
  setup_failed,
  unsupported,
  memory_corruption,
  abort_message
};

/// The word for a class as in the list above. Static storage.
std::string_view name_of(TextClass text_class);

/// Whether such a text ends the process that prints it; the others may be caught and survived.
bool ends_the_process(TextClass text_class);

/// Where a rule has to begin to count.
enum class Place : uint8_t {
  anywhere,
  line_start,    ///< first on its line
  after_source,  ///< first on its line, or after "file.mm:78:", "-[Class method:]:78:", "prog[1:2]"
  unwarned,      ///< anywhere but after "Warning: " on the same line
};

/// A known text: literal fragments that occur in this order within `window` characters.
struct Pattern {
  std::string_view name;  ///< of the row; what `why` shows
  TextClass text_class;
  Place place = Place::anywhere;
  std::string_view title;  ///< complete
  std::array<std::string_view, 4> fragments;
  size_t window = 600;
  std::string_view source = {};  ///< where the text comes from: a link, or "made up"
};

/// When a form counts.
enum class Counts : uint8_t {
  always,
  as_first_words,  ///< only of a process that ended itself; the first such text speaks for it
  as_last_words,   ///< the same, the last one
};

/// How a runtime tells a death: a literal anchor, and a shape (shape.h) around it whose parentheses
/// hold the message. Of several forms that fit at one place the first in the table counts, and
/// where a form's message holds another rule's text, that one counts in its place.
struct Form {
  std::string_view name;
  TextClass text_class;
  std::string_view title;  ///< in front of the message's title
  std::string_view anchor;
  std::string_view shape;      ///< matched at the anchor, or
  bool from_the_line = false;  ///< ... where the anchor's line begins
  Place place = Place::anywhere;
  Counts counts = Counts::always;
  bool known = false;
  bool takes_leads = false;  ///< the message may have come through others, who put words in front
  bool uncaught = false;     ///< the runtime's own words about an exception that nobody caught
  bool mute = false;         ///< it says nothing where another text of the same kind does
  std::string_view source = {};
};

/// What is left out of a message, matched from left to right; nothing is looked at twice.
struct Mask {
  enum class Begins : uint8_t { at_a_name, within_a_name, anywhere, apart };
  std::string_view name;
  std::string_view shape;
  std::string_view stand_in = {};  ///< put there instead; @ is what the shape's parentheses hold
  /// Not behind a character of a name; behind one only; wherever it fits; behind a blank, a quote,
  /// a bracket or an equals sign.
  Begins begins = Begins::at_a_name;
  bool ends_the_title = false;
  std::string_view source = {};
};

/// A line of a process that ended itself, as its shape from the line's begin on says: how much it
/// tells. 0: nothing at all.
struct Telling {
  std::string_view name;
  int rank;
  std::string_view shape;
  std::string_view source = {};
};

/// All rules that make titles of texts. Those of the project by default; a test leaves rows out.
struct Rules {
  std::span<const Pattern> patterns;
  std::span<const Form> forms;
  std::span<const Mask> noise;  ///< what is left out of a whole text, within its lines
  std::span<const Mask> leads;  ///< what is put in front of a message, left out one after another
  std::span<const Mask> masks;
  std::span<const Telling> telling;

  static const Rules& standard();
};

/// The title of a command buffer that ended since another process made the GPU restart: no failure
/// of the process that prints it.
constexpr std::string_view kInnocentVictim = "command buffer: Innocent Victim of a GPU error";

/// The title of an error that ends Python's interpreter, before its text.
constexpr std::string_view kPythonFatal = "Python: ";

/// The title of an error of MPSGraph's compiler, before its text.
constexpr std::string_view kGraphError = "MPSGraph: ";

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

/// The tables. Static storage.
std::span<const Pattern> patterns();
std::span<const Form> forms();
std::span<const Mask> noise();
std::span<const Mask> leads();
std::span<const Mask> masks();
std::span<const Telling> telling();

}  // namespace mpsprobe
