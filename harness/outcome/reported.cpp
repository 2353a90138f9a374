#include "harness/outcome/reported.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/outcome/refusals.h"
#include "harness/signature/find_failures.h"
#include "harness/signature/shape.h"
#include "harness/signature/title.h"

namespace mpsprobe {
namespace {

Outcome kind_of(const FailureEvent& failure) {
  const std::optional<Outcome> kind = named<Outcome>(failure.kind);
  if (!kind.has_value() || *kind == Outcome::pass) return Outcome::infrastructure;
  if (*kind != Outcome::exception) return *kind;
  if (refusal_in(failure.text) != nullptr) return Outcome::refused;
  const std::optional<TextClass> text_class = class_of_message(failure.text);
  // What a call does not find, or cannot load, while others run, is its failure.
  if (text_class == TextClass::setup_failed && failure.phase == name_of(Phase::run))
    return Outcome::exception;
  return text_class.has_value() && *text_class != TextClass::assertion &&
                 *text_class != TextClass::abort_message
             ? outcome_of(*text_class)
             : Outcome::exception;
}

constexpr size_t kMostDetail = 400;
constexpr size_t kMostRule = 200;

// "ValueError: " of what a Python worker tells: the name of a type, and what it says. Titles leave
// such a lead out, since a message is the same wherever it was caught; of somebody's own code the
// type is half of what he knows it by.
std::string_view type_of_error(std::string_view text) {
  static const Shape kType("(?:[a-z_]\\w*\\.)*([A-Z]\\w*: )");
  const auto type = kType.match(text, 0);
  return type ? text.substr(type->inner_begin, type->inner_end - type->inner_begin) : "";
}

}  // namespace

Outcome outcome_of(TextClass text_class) {
  // Words that end a process count as an assertion, whatever they are of; for each of the others
  // there is an outcome of the same name.
  if (ends_the_process(text_class)) return Outcome::assertion;
  return named<Outcome>(name_of(text_class)).value_or(Outcome::assertion);
}

Judgement read_failure(const FailureEvent& failure) {
  Judgement told;
  told.outcome = kind_of(failure);
  told.basis = Basis::text;
  if (told.outcome == Outcome::wrong_result) {
    told.signature = "wrong result: " + title_of(failure.operation).title;
    told.detail = failure.text.substr(0, kMostDetail);
    return told;
  }
  if (told.outcome == Outcome::misuse) {
    // The rule and what was done to it; the places follow.
    told.detail = failure.text.substr(0, failure.text.find('\n')).substr(0, kMostRule);
    told.signature = "misuse: " + told.detail;
    return told;
  }
  const std::vector<Finding> findings = find_failures(failure.text);
  // As it would be titled had nobody caught it.
  const Titled titled = title_of_message(failure.text);
  told.signature = titled.title;
  told.detail = title_of(failure.text).title;
  told.why.assign(titled.why.begin(), titled.why.end());
  told.known = !findings.empty() && findings.front().known;
  if (told.outcome == Outcome::refused) {
    told.detail = refusal_in(failure.text)->in_words;
    told.known = true;
  } else if (told.outcome == Outcome::exception) {
    const std::string type(told.known ? "" : type_of_error(failure.text));
    const bool has_it = titled.title.starts_with(type.substr(0, type.find(':')));
    if (!titled.title.empty() && !has_it) told.signature.insert(0, type);
  } else if (findings.empty()) {
    told.signature = fmt::format("{}: {}", name_of(told.outcome), told.detail);
    told.known = !is_failure(told.outcome);
    // Why something could not be set up is for a person to mend: whole, with his names in it.
    if (told.outcome == Outcome::setup_failed) told.detail = failure.text.substr(0, kMostDetail);
  }
  return told;
}

int telling(const Judgement& reported) {
  if (reported.outcome == Outcome::misuse) return 3;
  if (!is_failure(reported.outcome) && reported.outcome != Outcome::refused) return 0;
  return reported.signature == kInnocentVictim ? 1 : 2;
}

const FailureEvent* first_failure(const std::vector<FailureEvent>& failures) {
  const auto first = std::ranges::max_element(
      failures, {}, [](const FailureEvent& failure) { return telling(read_failure(failure)); });
  return first == failures.end() ? nullptr : &*first;
}

}  // namespace mpsprobe
