#include "harness/text/echo.h"

#include <algorithm>
#include <iterator>

#include "harness/text/ascii.h"

namespace mpsprobe {
namespace {

using ascii::digit;
using ascii::starts_with_in_any_case;

// A line of a program's source, as a traceback or a notebook shows it: "raise LaneError(",
// "---> 12 raise LaneError(text)".
bool throws(std::string_view line) {
  const size_t begin = std::min(line.find_first_not_of("->|* 0123456789"), line.size());
  const std::string_view code = line.substr(begin);
  for (std::string_view keyword : {"raise ", "throw "}) {
    if (!code.starts_with(keyword)) continue;
    const std::string_view thrown = code.substr(keyword.size());
    const std::string_view name = thrown.substr(0, thrown.find_first_of(" ("));
    // A sentence goes on with a word, a statement with a bracket or "from", or is over.
    const std::string_view after = thrown.substr(name.size());
    return after.empty() || after[0] == '(' || after.starts_with(" from ");
  }
  return false;
}

}  // namespace

bool is_echo(std::string_view line) {
  constexpr std::string_view kEchoes[] = {
      "an uncaught exception was raised",
      "exception type:",
      "exception codes:",
      "exception note:",
      "dyld error message",
      "termination reason:",
      "application specific information",
      "*** first throw call stack",
      "(first throw call stack",
      "the following operation failed in the torchscript",
      "the above operation failed in",
      "traceback (most recent call last)",
      "during handling of the above exception",
      "the above exception was the direct cause",
      "abort trap",
      "aborted",
      "abort() called",
      "terminate called",
      "segmentation fault",
      "bus error",
      "illegal instruction",
      "process finished with exit code",
      "fatal python error: aborted",
      "fatal python error: segmentation fault",
      "extension modules:",
      "current thread",
      "crashed thread:",
      "*** process received signal",
      "signal: ",
      "libc++abi: terminating",
      "libc++abi.dylib: terminating",
      "set a breakpoint in malloc_error_break",
      "exception raised from ",
      "exiting",
      "failed (failures=",
      "failed (errors=",
      "zsh: ",
      "fish: job",
      "unknown file: failure",
      "summary: undefinedbehaviorsanitizer",
      "[ failed ]",
      "[ passed ]",
      "[ ok ]",
      "[ run ]",
      "[ skipped ]",
      "[==",
      "[--",
      "bash: line",
      "(core dumped)",
  };
  const bool listed = std::any_of(std::begin(kEchoes), std::end(kEchoes),
                                  [&](auto echo) { return starts_with_in_any_case(line, echo); });
  // "make: *** [Makefile:35: run] Aborted"
  const bool made = line.starts_with("make") && line.find(": *** [") != std::string_view::npos;
  const bool heading =
      line.starts_with("Thread ") && line.find("Crashed") != std::string_view::npos;
  // A shell's "[1]    4711 abort      python".
  const bool job = line.size() > 4 && line[0] == '[' && digit(line[1]) &&
                   line.substr(2, 2) == "] " && (digit(line[4]) || line[4] == '+');
  // "test.py:7: RuntimeError"
  const bool type_alone = line.ends_with("Error") && line.find(": ") == line.rfind(' ') - 1;
  return listed || made || heading || job || type_alone || throws(line) ||
         line.ends_with("(core dumped)");
}

bool announces_error(std::string_view line) {
  // An IDE that stopped at it: "Exception has occurred: LaneError       (note: full trace ...)".
  if (line.starts_with("Exception has occurred: ")) return true;
  if (!line.ends_with(':')) return false;
  for (std::string_view opening :
       {"error occurred ", "an error occurred", "exception occurred", "error while ", "error when ",
        "error during ", "error executing "}) {
    if (starts_with_in_any_case(line, opening)) return true;
  }
  return false;
}

}  // namespace mpsprobe
