#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// One failure that a text tells of.
struct Finding {
  TextClass text_class = TextClass::abort_message;
  std::string title;    ///< stable over chips, builds, quote styles and wrapping; printable ASCII
  std::string excerpt;  ///< the original bytes around it, at most 600: untrusted, escape on output
  size_t offset = 0;    ///< of the failure in the original text, in bytes
  bool known = false;   ///< false: recognised by its form only, the title is made from the text
  bool uncaught = false;  ///< it stands in the last words of an exception that nobody caught
};

/// Whether such a text ends the process that prints it; the others may be caught and survived.
bool ends_the_process(TextClass text_class);

/// The most findings that one text yields.
constexpr size_t kMostFindings = 32;
/// Of these, so many are kept for what ends the process: it stands behind all that was survived.
constexpr size_t kMostLastWords = 8;
/// Text beyond this many bytes is not looked at: half of it from the head, half from the tail.
constexpr size_t kMostTextBytes = size_t{2} << 20;

/// Every failure that `text` (what a process printed, or the notes of a crash report) tells of: in
/// order of appearance, each title once, at most kMostFindings (cut_findings). Never throws but for
/// lack of memory; safe to call from any thread. Time and memory are linear in the text, whatever
/// it holds: one pass of an automaton finds all fragments, and each later step looks at a bounded
/// neighbourhood or at text that no other step reads. `work`, where given, is set to the number of
/// characters and pattern steps that it took.
///
/// What does not count: a line that is a comment (`//`, `#`, `/*`, `*` in front), a format string
/// (`failed assertion '%s'`), prose in which the words occur without the form that the systems'
/// own reporters give them, and, for what warnings mention as well, text after "Warning: ".
std::vector<Finding> find_failures(std::string_view text, size_t* work = nullptr);

/// Cuts to kMostFindings: the first ones, and of those behind them that end the process the last
/// kMostLastWords. Keeps their order.
void cut_findings(std::vector<Finding>& findings);

/// The title of a bug that the table knows by its message, also without the words that the system's
/// reporters put in front ("failed assertion"): as somebody cut or quoted it. Empty where the table
/// knows no such message.
std::string known_message_title(std::string_view message);

/// What an exception's own text says about its kind: the class that says most, unsupported and
/// out_of_memory before all others. Nothing where the text is of no form known here: then it is
/// just an exception. Never throws but for lack of memory.
std::optional<TextClass> class_of_message(std::string_view message);

}  // namespace mpsprobe
