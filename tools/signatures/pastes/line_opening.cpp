#include "tools/signatures/pastes/line_opening.h"

#include <algorithm>
#include <iterator>

#include "harness/signature/ascii.h"

namespace mpsprobe {
namespace {

constexpr std::string_view kMarks = "/#>*|=+~@\\^$%{}\"";
constexpr std::string_view kOpenings[] = {"File ",
                                          "Traceback",
                                          "Thread ",
                                          "Process ",
                                          "Current thread",
                                          "frame ",
                                          "goroutine ",
                                          "at ",
                                          "note:",
                                          "note ",
                                          "During handling",
                                          "The above",
                                          "Exception ",
                                          "terminate called",
                                          "libc++",
                                          "libdispatch",
                                          "double free",
                                          "free()",
                                          "malloc",
                                          "corrupted ",
                                          "dyld",
                                          "objc",
                                          "Abort",
                                          "Segmentation",
                                          "zsh",
                                          "bash",
                                          "fish",
                                          "python",
                                          "Python",
                                          "Command terminated",
                                          "make["};
// The same words within a sentence.
constexpr std::string_view kWithin[] = {"at least ", "at most "};

// What nothing but a line of its own begins with.
constexpr std::string_view kSure[] = {"Exception raised from ", "Traceback (most recent call last)",
                                      "terminate called ",      "frame #",
                                      "Segmentation fault",     "Aborted (core"};

}  // namespace

bool surely_begins_a_line(std::string_view words) {
  // "[t2] round 3", "[main 4711] done": who prints it.
  const size_t close = words.substr(0, 24).find(']');
  if (words.starts_with('[') && close != std::string_view::npos &&
      ascii::lower(ascii::at(words, 1))) {
    return true;
  }
  return std::any_of(std::begin(kSure), std::end(kSure),
                     [&](std::string_view with) { return words.starts_with(with); });
}

bool begins_a_line(std::string_view words) {
  const auto begins = [&](std::string_view with) { return words.starts_with(with); };
  if (words.empty() || kMarks.find(words[0]) != std::string_view::npos) return true;
  if (words.starts_with("-[") || words.starts_with("+[") || surely_begins_a_line(words))
    return true;
  const std::string_view word = words.substr(0, words.find(' '));
  if (word.ends_with(':') || word.starts_with("--")) return true;
  // A process: "pool(12)", "pool[12:34]:", not "lanes[12],".
  const size_t open = word.find_first_of("([");
  const bool listed = word.ends_with(',') || word.ends_with(';') || word.ends_with('.');
  if (open != std::string_view::npos && open > 0 && ascii::digit(ascii::at(word, open + 1)) &&
      !listed) {
    return true;
  }
  if (std::any_of(std::begin(kWithin), std::end(kWithin), begins)) return false;
  return std::any_of(std::begin(kOpenings), std::end(kOpenings), begins);
}

}  // namespace mpsprobe
