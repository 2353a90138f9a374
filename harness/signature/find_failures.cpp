#include "harness/signature/find_failures.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "harness/signature/frames.h"
#include "harness/signature/plain_text.h"
#include "harness/signature/race_report.h"
#include "harness/signature/rule_search.h"

namespace mpsprobe {
namespace {

constexpr size_t kLongestExcerpt = 600;
constexpr size_t kMostCollected = 512;

// The lines around a match as they were, cut at whole characters.
std::string make_excerpt(std::string_view original, const PlainText& plain,
                         const RuleMatch& match) {
  const size_t begin = plain.line_begin(match.begin, kLongestExcerpt / 3);
  const size_t end = plain.line_end(std::min(match.end, match.begin + kLongestExcerpt));
  size_t first = plain.origin[begin];
  size_t last = std::min(plain.origin[end], first + kLongestExcerpt);
  while (last > first && (original[last - 1] == '\n' || original[last - 1] == '\r')) --last;
  const auto inside = [&](size_t i) {
    return i < original.size() && (static_cast<unsigned char>(original[i]) & 0xc0U) == 0x80U;
  };
  for (int i = 0; i < 3 && first < last && inside(first); ++i) ++first;
  for (int i = 0; i < 3 && last > first && inside(last); ++i) --last;
  return std::string(original.substr(first, last - first));
}

Titled title_of_match(const PlainText& plain, const RuleMatch& match, const Rules& rules) {
  const TextRule& form = *match.rule;
  if (!form.shape) return {form.title, {form.name}, form.known};
  std::string place;
  if (form.by_stacks) {
    const RaceReport report = read_race_report(std::string_view(plain.text).substr(match.begin));
    if (form.text_class == TextClass::data_race) {
      return {title_of_race(report, rules), {form.name}, form.known};
    }
    const StackTitle top =
        report.sides.empty() ? StackTitle() : title_of_stack(report.sides.front().frames);
    const std::string& name = top.function.empty() ? top.image : top.function;
    const bool inside = top.kind == StackTitle::Kind::entry;
    if (!name.empty()) place = (inside ? " inside " : " in ") + name;
  }
  const std::string_view message = message_of(plain, match);
  Titled titled = form.takes_leads ? title_behind_leads(message, rules) : title_of(message, rules);
  titled.why.insert(titled.why.begin(), form.name);
  titled.known = form.known;
  if (titled.title.empty() && !form.known && !form.mute) titled.title = "without a text";
  titled.title = form.title + titled.title + place;
  if (titled.title.size() > kLongestTitle) titled.title.resize(kLongestTitle);
  while (titled.title.ends_with(' ') || titled.title.ends_with(':')) titled.title.pop_back();
  return titled;
}

// What a form's message holds says more than the form. What is uncaught stays so.
struct Counted {
  RuleMatch match;
  bool uncaught;
};

std::vector<Counted> without_wrappers(const std::vector<RuleMatch>& matches) {
  std::vector<Counted> counted;
  size_t explained = 0;       // up to here a known text explains all
  size_t uncaught_until = 0;  // the end of the last uncaught exception's message
  for (size_t i = 0; i < matches.size(); ++i) {
    const RuleMatch& match = matches[i];
    if (match.rule->counts != Counts::always) continue;
    if (match.rule->uncaught) uncaught_until = std::max(uncaught_until, match.end);
    const auto is_within = [&](const RuleMatch& inner) {
      return inner.begin < match.message_end && inner.end > match.message_begin &&
             inner.rule->counts == Counts::always;
    };
    const bool says_less =
        match.rule->shape && (match.begin < explained ||
                              std::any_of(matches.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                          matches.end(), is_within));
    if (says_less) continue;
    explained = std::max(explained, match.end);
    counted.push_back({match, match.begin < uncaught_until});
  }
  return counted;
}

// What says nothing, where another text of its kind says something.
void drop_mute(std::vector<Finding>& findings) {
  std::vector<TextClass> told;
  for (const Finding& finding : findings) {
    const bool tells = finding.text_class != TextClass::exception || finding.uncaught;
    if (!finding.mute && tells) told.push_back(finding.text_class);
    if (!finding.mute && finding.title.starts_with("command buffer: ")) {
      told.push_back(TextClass::gpu_error);
    }
  }
  std::erase_if(findings, [&](const Finding& finding) {
    return finding.mute && std::find(told.begin(), told.end(), finding.text_class) != told.end();
  });
}

}  // namespace

void cut_findings(std::vector<Finding>& findings) {
  if (findings.size() <= kMostFindings) return;
  std::vector<Finding> last;
  for (size_t i = findings.size(); i > kMostFindings && last.size() < kMostLastWords; --i) {
    if (ends_the_process(findings[i - 1].text_class)) last.push_back(std::move(findings[i - 1]));
  }
  findings.resize(kMostFindings - last.size());
  std::move(last.rbegin(), last.rend(), std::back_inserter(findings));
}

std::vector<Finding> find_failures(std::string_view text, const Rules& rules) {
  const PlainText plain = plain_text(text, kMostTextBytes, rules.noise);
  const std::vector<Counted> counted = without_wrappers(find_rules(plain, rules));
  std::vector<Finding> findings;
  std::set<std::string, std::less<>> titles;
  for (size_t i = 0; i < counted.size(); ++i) {
    const auto& [match, uncaught] = counted[i];
    const TextClass text_class = match.rule->text_class;
    const bool first = i < kMostCollected / 2;
    if (!first && (counted.size() - i > kMostCollected / 2 || !ends_the_process(text_class))) {
      continue;
    }
    Titled titled = title_of_match(plain, match, rules);
    if (!titles.insert(titled.title).second) {
      // Told when it might be survived, and again when it was not.
      const auto told = std::find_if(findings.begin(), findings.end(), [&](const Finding& finding) {
        return finding.title == titled.title;
      });
      told->uncaught = told->uncaught || uncaught;
      if (!ends_the_process(text_class) || told->text_class != TextClass::exception) continue;
      told->text_class = text_class;
      told->known = titled.known;
      continue;
    }
    findings.push_back({std::move(titled), text_class, make_excerpt(text, plain, match),
                        plain.origin[match.begin], uncaught, match.rule->mute});
  }
  drop_mute(findings);
  cut_findings(findings);
  return findings;
}

Titled title_of_message(std::string_view message, const Rules& rules) {
  const std::vector<Finding> findings = find_failures(message, rules);
  if (findings.empty()) return title_behind_leads(message, rules);
  return {findings.front().title, findings.front().why};
}

std::vector<TextPart> words_of_rules(std::string_view text, const Rules& rules) {
  std::vector<TextPart> parts;
  const auto add_title = [&](const std::string& title, bool whole) {
    const bool there = whole ? text == title : text.starts_with(title);
    if (there && !title.empty()) parts.push_back({0, title.size()});
  };
  for (const TextRule& rule : rules.texts) add_title(rule.title, rule.known);
  for (const MisuseFrame& misuse : rules.misuses) add_title(misuse.title, true);
  const PlainText plain = plain_text(text, kMostTextBytes, rules.noise);
  const auto add = [&](const std::string& literal, size_t from) {
    const size_t at = plain.text.find(literal, from);
    if (at == std::string::npos) return from;
    const size_t end = at + literal.size();
    parts.push_back({plain.origin[at], plain.origin[end - 1] + 1});
    return end;
  };
  for (const RuleMatch& match : find_rules(plain, rules)) {
    size_t from = match.begin;
    for (const std::string& fragment : match.rule->fragments) from = add(fragment, from);
  }
  return parts;
}

std::optional<TextClass> class_of_message(std::string_view message) {
  // What keeps a failure from counting as evidence first, then what says most about its cause.
  constexpr TextClass kOrder[] = {TextClass::unsupported,       TextClass::out_of_memory,
                                  TextClass::setup_failed,      TextClass::gpu_error,
                                  TextClass::memory_corruption, TextClass::assertion,
                                  TextClass::abort_message,     TextClass::exception};
  const std::vector<Finding> findings = find_failures(message);
  for (TextClass text_class : kOrder) {
    if (std::ranges::find(findings, text_class, &Finding::text_class) != findings.end()) {
      return text_class;
    }
  }
  return std::nullopt;
}

}  // namespace mpsprobe
