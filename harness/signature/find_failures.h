#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/signature/rules.h"
#include "harness/signature/title.h"

namespace mpsprobe {

/// One failure that a text tells of.
struct Finding : Titled {
  TextClass text_class = TextClass::abort_message;
  std::string excerpt;  ///< the original bytes around it, at most 600: untrusted, escape on output
  size_t offset = 0;    ///< of the failure in the original text, in bytes
  bool uncaught = false;  ///< it stands in the last words of an exception that nobody caught
  bool mute = false;      ///< it says nothing but that there was a failure of its kind
};

/// The most findings that one text yields.
constexpr size_t kMostFindings = 32;
/// Of these, so many are kept for what ends the process: it stands behind all that was survived.
constexpr size_t kMostLastWords = 8;
/// Text beyond this many bytes is not looked at: half of it from the head, half from the tail.
constexpr size_t kMostTextBytes = size_t{2} << 20;

/// Every failure that `text` (what a process printed, or the notes of a crash report) tells of: in
/// order of appearance, each title once, at most kMostFindings (cut_findings). Never throws but for
/// lack of memory; safe to call from any thread. One pass finds all fragments; what stands around
/// them is looked at within bounds, and of more than a few thousand the first and the last alone.
///
/// What does not count: a line that is a comment (`//`, `#`, `/*`, `*` in front), a format string
/// (`failed assertion '%s'`), prose in which the words occur without the form that the systems'
/// own reporters give them, and, for what warnings mention as well, text after "Warning: ".
std::vector<Finding> find_failures(std::string_view text, const Rules& rules = Rules::standard());

/// Cuts to kMostFindings: the first ones, and of those behind them that end the process the last
/// kMostLastWords. Keeps their order.
void cut_findings(std::vector<Finding>& findings);

/// The title of a process that ended itself, where no finding speaks for it: of what a language or
/// a test framework tells at a program's end (Python's traceback, GoogleTest), or the line of its
/// last paragraph of trouble that tells most. Without the program's own name in front. An empty
/// title where nothing of that kind was printed. Looks at the last 64 KiB. Never throws but for
/// lack of memory; from any thread.
Titled last_words(std::string_view text, const Rules& rules = Rules::standard());

/// What last_words() says of stories alone: an interpreter's or a test framework's.
Titled told_story(std::string_view text, const Rules& rules = Rules::standard());

/// The message of that story, with the type of an exception in front.
std::string told_error(std::string_view text, const Rules& rules = Rules::standard());

/// The title of a message that somebody hands on, as it would be had nobody caught it: that of the
/// first failure that it tells of, else of its own words.
Titled title_of_message(std::string_view message, const Rules& rules = Rules::standard());

/// A part of a text, in bytes.
struct TextPart {
  size_t begin = 0;
  size_t end = 0;
};

/// What in `text` is a rule's own: the fragments of known texts, and the anchors of the forms in
/// which runtimes tell of a failure, but not the messages in them. Of a title: what a rule puts in
/// front. In no order. At most kMostTextBytes of the text are looked at. Throws only for lack of
/// memory; from any thread.
std::vector<TextPart> words_of_rules(std::string_view text, const Rules& rules = Rules::standard());

/// What an exception's own text says about its kind: the class that says most, unsupported and
/// out_of_memory before all others. Nothing where the text is of no form known here: then it is
/// just an exception. Never throws but for lack of memory.
std::optional<TextClass> class_of_message(std::string_view message);

}  // namespace mpsprobe
