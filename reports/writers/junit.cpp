#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "reports/analysis/trial_facts.h"
#include "reports/html/markup.h"
#include "reports/words/report_words.h"
#include "reports/words/safe_text.h"
#include "reports/words/stack_words.h"
#include "reports/writers/forms.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostReruns = 100;
constexpr size_t kMostFramesOfFailure = 40;
constexpr size_t kLongestBody = 16000;

std::string title_of(const TrialRecord& trial) {
  if (!trial.judgement.signature.empty()) return trial.judgement.signature;
  return std::string(name_of(trial.judgement.outcome));
}

/// What a person needs of a failed trial: where it was, its stack, and the end of what it printed.
std::string body_of(const TrialRecord& trial) {
  std::string text = fmt::format("{}, trial {}{}\n", std::string(name_of(trial.judgement.outcome)),
                                 trial.trial, seed_in_words(trial.seed));
  const auto judged = static_cast<size_t>(std::max(0, trial.judged_process));
  if (judged >= trial.processes.size()) return text;
  const ProcessRecord& process = trial.processes[judged];
  for (const ThreadStack& stack : process.stacks.threads) {
    const bool telling = stack.faulting || stack.thread == kSideOfRace;
    if (!telling && trial.judgement.outcome != Outcome::hang) continue;
    text +=
        thread_in_words(stack) + ":\n" + stack_in_words(stack.frames, kMostFramesOfFailure) + "\n";
  }
  const std::string said = process.err.text();
  return text + last_lines(said.empty() ? process.out.text() : said, 20, 400);
}

/// What the trials of one cell come to.
struct CaseTrials {
  std::set<int> seen;
  double seconds = 0;
  size_t failed = 0;
  std::string title;        ///< of the first failure
  std::string failure;      ///< its body
  std::string reruns;       ///< the next kMostReruns, as XML
  std::string unsupported;  ///< why, in the worker's own words: a title leaves numbers out
  std::string not_set_up;   ///< why, and what it printed: an error
};

void add_failure(CaseTrials& trials, const TrialRecord& trial) {
  if (trials.failed++ > kMostReruns) return;
  const std::string body = markup(body_of(trial), kLongestBody, Lines::keep);
  if (trials.failed == 1) {
    trials.title = title_of(trial);
    trials.failure = body;
  } else {
    trials.reruns += fmt::format(
        "   <rerunFailure type=\"{0}\" "
        "message=\"{0}\"><stackTrace>{1}</stackTrace></rerunFailure>\n",
        markup(title_of(trial)), body);
  }
}

/// By arm and cell.
std::map<std::pair<size_t, std::string>, CaseTrials> trials_by_cell(const Journal& journal,
                                                                    const Analysis& analysis) {
  std::map<std::pair<size_t, std::string>, CaseTrials> cells;
  size_t index = 0;
  for_each_trial(journal, [&](const TrialRecord& trial) {
    const size_t arm = analysis.arm_of_trial[index++];
    if (trial.judgement.bystander) return;
    CaseTrials& trials = cells[{arm, to_string(trial.cell)}];
    if (!trials.seen.insert(trial.trial).second) return;
    trials.seconds += trial.seconds;
    if (is_failure(trial.judgement.outcome)) add_failure(trials, trial);
    if (trial.judgement.outcome == Outcome::unsupported && trials.unsupported.empty()) {
      trials.unsupported = unsupported_in_words(trial);
    }
    if (trial.judgement.outcome == Outcome::setup_failed && trials.not_set_up.empty()) {
      trials.not_set_up = fmt::format(
          "   <error type=\"{}\" message=\"{}\">{}</error>\n", name_of(Outcome::setup_failed),
          markup(trial.judgement.detail), markup(body_of(trial), kLongestBody, Lines::keep));
    }
  });
  return cells;
}

std::string property_xml(std::string_view name, std::string_view value) {
  return fmt::format("   <property name=\"{}\" value=\"{}\"/>\n", name, markup(value));
}

struct CaseXml {
  std::string inside;
  int failures = 0;
  int errors = 0;
  int skipped = 0;
};

CaseXml case_of(const CellSummary& cell, const CaseTrials& trials) {
  const Standing standing = standing_of(cell);
  const bool unsupported =
      standing.word == name_of(Outcome::unsupported) && !trials.unsupported.empty();
  const std::string words = unsupported             ? standing.word + ": " + trials.unsupported
                            : standing.rest.empty() ? standing.word
                                                    : standing.word + " " + standing.rest;
  CaseXml made;
  if (cell.expected == Expected::unmet && trials.failed == 0) {
    made.failures = 1;
    made.inside = fmt::format("   <failure type=\"unexpected\" message=\"{}\"/>\n", markup(words));
  } else if (cell.expected != Expected::met && !cell.has_rate() && !trials.not_set_up.empty()) {
    made.errors = 1;
    made.inside = trials.not_set_up;
  } else if (cell.expected != Expected::unmet &&
             (!cell.has_rate() || (cell.failures > 0 && cell.expected == Expected::met))) {
    made.skipped = 1;
    made.inside = fmt::format("   <skipped message=\"{}{}\"/>\n",
                              cell.has_rate() ? "fails as expected: " : "", markup(words));
  } else if (cell.failures > 0 || cell.expected == Expected::unmet) {
    made.failures = 1;
    made.inside = fmt::format(
        "   <failure type=\"{0}\" message=\"{1} of {2}: {0}\">{3}</failure>\n{4}",
        markup(trials.title), cell.failures, cell.counted, trials.failure, trials.reruns);
  }
  return made;
}

}  // namespace

std::string report_junit(const Journal& journal, const Analysis& analysis) {
  auto cases = trials_by_cell(journal, analysis);
  const std::string prefix(class_prefix(analysis));
  std::string suites;
  CaseXml all;
  for (const CellSummary& cell : analysis.cells) {
    const Arm& arm = analysis.arms[cell.arm];
    const CaseTrials& trials = cases[{cell.arm, cell.id}];
    const CaseXml made = case_of(cell, trials);
    all.failures += made.failures;
    all.errors += made.errors;
    suites += fmt::format(
        " <testsuite name=\"{}{}\" tests=\"1\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" "
        "time=\"{:.3f}\" timestamp=\"{}\">\n  <properties>\n",
        prefix, markup(cell.id), made.failures, made.errors, made.skipped,
        std::max(0.0, trials.seconds), markup(analysis.header.started.substr(0, 19)));
    suites += property_xml("device_class", device_class(cell));
    suites += property_xml("worker", arm.label);
    suites += property_xml("library", library_in_words(arm));
    suites += property_xml("planned", std::to_string(cell.planned));
    suites += property_xml("n", std::to_string(cell.counted));
    suites += property_xml("k", std::to_string(cell.failures));
    suites += property_xml("rate_low_95", fmt::format("{:.6g}", cell.rate.low));
    suites += property_xml("rate_high_95", fmt::format("{:.6g}", cell.rate.high));
    if (trials.failed > kMostReruns + 1) {
      suites += property_xml("failures_left_out", std::to_string(trials.failed - kMostReruns - 1));
    }
    suites += fmt::format(
        "  </properties>\n  <testcase classname=\"{}{}\" name=\"{}\" time=\"{:.3f}\">\n{}"
        "  </testcase>\n </testsuite>\n",
        prefix, markup(arm.label), markup(cell.id), std::max(0.0, trials.seconds), made.inside);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- mpsprobe report: junit -->\n"
      "<!-- Schema: junit-10.xsd of Jenkins's xunit plugin, which has Maven Surefire's "
      "rerunFailure -->\n"
      "<testsuites name=\"{}mpsprobe {}\" tests=\"{}\" failures=\"{}\" errors=\"{}\">\n{}"
      "</testsuites>\n",
      prefix, markup(analysis.header.matrix_name), analysis.cells.size(), all.failures, all.errors,
      suites);
}

}  // namespace mpsprobe
