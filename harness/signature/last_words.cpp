#include <algorithm>
#include <string>

#include "harness/signature/find_failures.h"
#include "harness/signature/plain_text.h"
#include "harness/signature/rule_search.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostBytes = 64 << 10;
constexpr size_t kMostLine = 1024;

std::string_view last_bytes(std::string_view text) {
  return text.substr(text.size() - std::min(text.size(), kMostBytes));
}

const Telling* telling_of(std::string_view line, const Rules& rules) {
  for (const Telling& row : rules.telling) {
    if (row.shape.match(line, 0)) return &row;
  }
  return nullptr;
}

// The program's own name in front: "pool: no lane". "metal::malloc: ..." is none.
std::string_view behind_program(std::string_view line) {
  static const Shape kName("[\\w./+-]+: ()\\S");
  const auto name = kName.match(line, 0);
  return name ? line.substr(name->inner_begin) : line;
}

// The story that speaks for the process; one that another one led to, as Python says, is not it.
const RuleMatch* decisive_story(const std::vector<RuleMatch>& matches, std::string_view text) {
  const RuleMatch* story = nullptr;
  const RuleMatch* before = nullptr;  // the link of a chain that the next one speaks of
  for (const RuleMatch& match : matches) {
    if (match.rule->counts == Counts::always) continue;
    if (story == nullptr || match.rule < story->rule) {
      story = before = &match;
      continue;
    }
    if (match.rule > story->rule || match.rule->counts == Counts::as_first_words) continue;
    const std::string_view between = text.substr(before->end, match.begin - before->end);
    before = &match;
    if (between.find("direct cause of the following exception") != std::string_view::npos) continue;
    // What went wrong while a context was left comes of what made the program leave it.
    const std::string_view own = text.substr(match.begin, match.end - match.begin);
    const bool handling =
        between.find("During handling of the above exception") != std::string_view::npos;
    if (!handling || own.find("exit__\n") == std::string_view::npos) story = &match;
  }
  return story;
}

// An exception without a text is told by the function that raised it: the last of its frames.
std::string message_of_story(const PlainText& plain, const RuleMatch& story) {
  static const Shape kType("[\\w.]*?(\\w+):? ?$");
  static const Shape kFrame(
      "File '(?:[^'\\n]*/)?(?<file>[^'\\n/]+?)(?:\\.py)?', line \\d+, in (?<function>[^\\n]+)");
  std::string message(message_of(plain, story));
  message.resize(message.find_last_not_of(" \n") + 1);  // npos + 1 is 0
  const auto type = kType.match(message, 0);
  const std::string_view told =
      std::string_view(plain.text).substr(story.begin, story.message_begin - story.begin);
  const size_t last = told.rfind("File '");
  if (!type || last == std::string_view::npos || type->end != message.size()) return message;
  const auto frame = kFrame.match(told, last);
  if (!frame) return message;
  return message.substr(type->inner_begin, type->inner_end - type->inner_begin) + " in " +
         std::string((*frame)["file"]) + "." + std::string((*frame)["function"]);
}

Titled story_of(const PlainText& plain, const Rules& rules) {
  const std::vector<RuleMatch> matches = find_rules(plain, rules);
  const RuleMatch* story = decisive_story(matches, plain.text);
  if (story == nullptr) return {};
  Titled titled = title_of_message(message_of_story(plain, *story), rules);
  titled.title.insert(0, story->rule->title);
  titled.why.insert(titled.why.begin(), story->rule->name);
  return titled;
}

}  // namespace

Titled told_story(std::string_view text, const Rules& rules) {
  return story_of(plain_text(last_bytes(text), kMostBytes, rules.noise), rules);
}

std::string told_error(std::string_view text, const Rules& rules) {
  const PlainText plain = plain_text(last_bytes(text), kMostBytes, rules.noise);
  const std::vector<RuleMatch> matches = find_rules(plain, rules);
  const RuleMatch* story = decisive_story(matches, plain.text);
  return story == nullptr ? "" : message_of_story(plain, *story);
}

Titled last_words(std::string_view text, const Rules& rules) {
  const PlainText plain = plain_text(last_bytes(text), kMostBytes, rules.noise);
  if (Titled story = story_of(plain, rules); !story.title.empty()) return story;
  std::string_view rest = plain.text;
  std::string_view words;
  const Telling* most = nullptr;
  // From the end: the paragraph is over at an empty line above what was found.
  while (!rest.empty()) {
    const size_t begin = rest.rfind('\n') + 1;  // npos + 1 is 0
    const std::string_view line = rest.substr(begin, kMostLine);
    rest = rest.substr(0, begin == 0 ? 0 : begin - 1);
    if (line.empty() && most != nullptr && most->rank > Rank::says_something) break;
    const Telling* now = telling_of(line, rules);
    if (now == nullptr || now->rank == Rank::says_nothing) continue;
    if (most != nullptr && now->rank < most->rank) continue;
    // Of lines that tell of no trouble the last one counts.
    if (most != nullptr && now->rank == Rank::says_something) continue;
    most = now;
    const size_t at = static_cast<size_t>(line.data() - plain.text.data());
    words = message_of(
        plain, {.begin = at, .end = at, .message_begin = at, .message_end = at + line.size()});
  }
  if (most == nullptr) return {};
  Titled titled = title_of_message(behind_program(words), rules);
  titled.why.insert(titled.why.begin(), most->name);
  titled.vague = most->rank == Rank::says_something;
  return titled;
}

}  // namespace mpsprobe
