#include "harness/outcome/reported.h"

#include <fmt/format.h>

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
  return text_class.has_value() && *text_class != TextClass::assertion &&
                 *text_class != TextClass::abort_message
             ? outcome_of(*text_class)
             : Outcome::exception;
}

// "ValueError: " of what a Python worker tells: the name of a type, and what it says. Titles leave
// such a lead out, since a message is the same wherever it was caught; of somebody's own code the
// type is half of what he knows it by.
std::string_view type_of_error(std::string_view text) {
  static const Shape kType("(?:[a-z_]\\w*\\.)*([A-Z]\\w*: )");
  const auto type = kType.match(text, 0);
  return type ? text.substr(type->inner_begin, type->inner_end - type->inner_begin) : "";
}

// How well a failure speaks for the process.
int rank(const FailureEvent& failure) {
  const ReportedFailure told = read_failure(failure);
  if (told.outcome == Outcome::misuse) return 3;
  if (!is_failure(told.outcome) && told.outcome != Outcome::refused) return 0;
  return told.title == kInnocentVictim ? 1 : 2;
}

}  // namespace

Outcome outcome_of(TextClass text_class) {
  switch (text_class) {
    case TextClass::exception:
      return Outcome::exception;
    case TextClass::out_of_memory:
      return Outcome::out_of_memory;
    case TextClass::unsupported:
      return Outcome::unsupported;
    case TextClass::setup_failed:
      return Outcome::setup_failed;
    case TextClass::gpu_error:
      return Outcome::gpu_error;
    case TextClass::data_race:
      return Outcome::data_race;
    default:
      return Outcome::assertion;
  }
}

ReportedFailure read_failure(const FailureEvent& failure) {
  const Outcome kind = kind_of(failure);
  if (kind == Outcome::wrong_result) {
    return {kind,
            "wrong result: " + normalise_title(failure.operation),
            failure.text.substr(0, 400),
            true,
            {}};
  }
  if (kind == Outcome::misuse) {
    // The rule and what was done to it; the places follow.
    const std::string rule = failure.text.substr(0, failure.text.find('\n')).substr(0, 200);
    return {kind, "misuse: " + rule, rule, true, {}};
  }
  const std::string detail = normalise_title(failure.text);
  const std::vector<Finding> findings = find_failures(failure.text);
  // As it would be titled had nobody caught it.
  const Titled titled = title_of_message(failure.text);
  std::vector<std::string> why(titled.why.begin(), titled.why.end());
  if (kind == Outcome::refused) {
    return {kind, titled.title, std::string(refusal_in(failure.text)->in_words), true,
            std::move(why)};
  }
  const bool known = !findings.empty() && findings.front().known;
  if (kind == Outcome::exception && !known && !titled.title.empty()) {
    const std::string type(type_of_error(failure.text));
    const bool has_it = titled.title.starts_with(type.substr(0, type.find(':')));
    return {kind, (has_it ? "" : type) + titled.title, detail, known, std::move(why)};
  }
  if (kind == Outcome::exception || !findings.empty()) {
    return {kind, titled.title, detail, known, std::move(why)};
  }
  // Why something could not be set up is for a person to mend: whole, with his names in it.
  std::string whole = kind == Outcome::setup_failed ? failure.text.substr(0, 400) : detail;
  return {kind, fmt::format("{}: {}", name_of(kind), detail), std::move(whole), !is_failure(kind),
          std::move(why)};
}

const FailureEvent* first_failure(const std::vector<FailureEvent>& failures) {
  const FailureEvent* best = nullptr;
  int most = -1;
  for (const FailureEvent& failure : failures) {
    if (const int now = rank(failure); now > most) {
      best = &failure;
      most = now;
    }
  }
  return best;
}

}  // namespace mpsprobe
