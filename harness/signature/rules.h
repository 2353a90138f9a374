#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/signature/shape.h"
#include "harness/wire/enum_words.h"

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
  abort_message,
  data_race,  ///< ThreadSanitizer's report, whatever its kind
};

template <>
inline constexpr auto kWordsOf<TextClass> = std::to_array<std::string_view>(
    {"assertion", "exception", "gpu_error", "out_of_memory", "setup_failed", "unsupported",
     "memory_corruption", "abort_message", "data_race"});

/// Whether such a text ends the process that prints it; the others may be caught and survived.
constexpr bool ends_the_process(TextClass text_class) {
  return text_class == TextClass::assertion || text_class == TextClass::memory_corruption ||
         text_class == TextClass::abort_message;
}

/// Where a rule has to begin to count.
enum class Place : uint8_t {
  anywhere,
  line_start,    ///< first on its line
  after_source,  ///< first on its line, or after "file.mm:78:", "-[Class method:]:78:", "prog[1:2]"
  unwarned,      ///< anywhere but after "Warning: " on the same line
};
template <>
inline constexpr auto kWordsOf<Place> =
    std::to_array<std::string_view>({"anywhere", "line-start", "after-source", "unwarned"});

/// When a text counts.
enum class Counts : uint8_t {
  always,
  as_first_words,  ///< only of a process that ended itself; the first such text speaks for it
  as_last_words,   ///< the same, the last one
};
template <>
inline constexpr auto kWordsOf<Counts> =
    std::to_array<std::string_view>({"always", "as-first-words", "as-last-words"});

/// A text that tells of a failure: literal fragments that occur in this order within `window`
/// characters, and make the title by themselves. Or the form in which a runtime tells of any: one
/// fragment, and a shape around it whose parentheses hold the message. Of several forms that fit at
/// one place the first in the table counts, and where a form's message holds another rule's text,
/// that one counts in its place.
struct TextRule {
  std::string name;  ///< of the row; what `why` shows
  TextClass text_class;
  std::string title;  ///< complete; of a form what stands in front of the message's title
  std::vector<std::string> fragments;
  size_t window = 600;
  std::optional<Shape> shape;  ///< of a form: matched at its fragment, or
  bool from_the_line = false;  ///< ... where the fragment's line begins
  Place place = Place::anywhere;
  Counts counts = Counts::always;
  bool known = false;
  bool takes_leads = false;  ///< the message may have come through others, who put words in front
  bool uncaught = false;     ///< the runtime's own words about an exception that nobody caught
  /// It says nothing where another text of the same kind does, or where a stack names a function.
  bool mute = false;
  /// The stacks that follow title it: a race as title_of_race() says (race_report.h), else the
  /// first as title_of_stack() does.
  bool by_stacks = false;
};
constexpr size_t kMostFragments = 4;

/// What is left out of a message, matched from left to right; nothing is looked at twice.
struct Mask {
  std::string name;
  Shape shape;
  std::string stand_in;  ///< put there instead; @ is what the shape's parentheses hold
  bool ends_the_title = false;
};

/// How much a line tells of why a process ended itself.
enum class Rank : uint8_t { says_nothing, says_something, tells_of_trouble, names_an_error };
template <>
inline constexpr auto kWordsOf<Rank> = std::to_array<std::string_view>(
    {"says-nothing", "says-something", "tells-of-trouble", "names-an-error"});

/// A line of a process that ended itself, as its shape from the line's begin on says.
struct Telling {
  std::string name;
  Rank rank;
  Shape shape;
};

/// A function that a library calls where it finds one misuse of itself, and for nothing else; where
/// it words that misuse in several ways, they share a title.
struct MisuseFrame {
  std::string image;     ///< as normalise_image writes it; empty: any
  std::string function;  ///< as normalise_function writes it
  std::string title;     ///< of the text that the library writes there
};

/// Why a frame says nothing about whose failure it is.
enum class Passing : uint8_t {
  trampoline,  ///< where a signal handler begins: it and what it called are no part of the failure
  ending,      ///< how an abort, a failed check or an exception leaves the code that found it
  messaging,   ///< Objective-C and Swift sending, retaining and releasing
  dispatch,    ///< queues and blocks of libdispatch
  thread_entry,  ///< where threads and programs begin
  teardown,      ///< where handlers of exit() and destructors of static objects are called
  memory,        ///< copying, filling and comparing of bytes
  allocator,     ///< inside malloc and free
  lock,          ///< taking and giving back a lock
  standard,      ///< the C++ standard library
  interpreter,   ///< a language's own machinery
  placeholder,   ///< a name that several functions share
  unnamed,       ///< a place without a function in an image of the system
};
template <>
inline constexpr auto kWordsOf<Passing> = std::to_array<std::string_view>(
    {"trampoline", "ending", "messaging", "dispatch", "thread-entry", "tear-down", "memory",
     "allocator", "lock", "standard", "interpreter", "placeholder", "unnamed"});

/// One row of rules/frames.rules. A pattern is a name in which a star stands for any characters: at
/// its front, at its end, once within. One that begins with no underscore fits names with any
/// number of them in front, as libraries call the inner copy of a function. An empty image pattern
/// fits every image; an empty function pattern fits frames without a function, and only those.
struct PassingFrame {
  Passing meaning;
  std::string image;
  std::string function;
};

/// All rules that make titles: rows of the files in rules/ (rule_file.h says how they are written).
struct Rules {
  std::vector<TextRule> texts;
  std::vector<Mask> noise;  ///< what is left out of a whole text, within its lines
  std::vector<Mask> leads;  ///< what is put in front of a message, left out one after another
  std::vector<Mask> masks;
  std::vector<Telling> telling;
  std::vector<PassingFrame> frames;
  std::vector<PassingFrame> own;  ///< this project's functions; `meaning` says nothing
  std::vector<MisuseFrame> misuses;

  /// Those of the project, read when they are first asked for. Static storage; from any thread.
  static const Rules& standard();
};

/// The first row that fits, or nothing: then the frame counts. `image` and `function` as
/// normalise_image and normalise_function give them. Linear in the names; safe from any thread.
const PassingFrame* find_passing_frame(
    std::string_view image, std::string_view function,
    const std::vector<PassingFrame>& rows = Rules::standard().frames);

/// Whether an image, as normalise_image gives it, is an interpreter's own.
bool of_interpreter(std::string_view image);

/// The title of a command buffer that ended since another process made the GPU restart: no failure
/// of the process that prints it.
constexpr std::string_view kInnocentVictim = "command buffer: Innocent Victim of a GPU error";

/// The title of an error that ends Python's interpreter, before its text.
constexpr std::string_view kPythonFatal = "Python: ";

}  // namespace mpsprobe
