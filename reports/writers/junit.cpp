#include "reports/writers/junit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "reports/analysis/arms.h"
#include "reports/words/text.h"
#include "reports/writers/markup.h"
#include "reports/writers/stack_words.h"
#include "reports/writers/wording.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostReruns = 100;
constexpr size_t kMostFrames = 40;
constexpr size_t kLongestBody = 16000;

using TrialsByCell = std::map<std::pair<size_t, std::string>, std::vector<const TrialRecord*>>;

TrialsByCell trials_by_cell(const Journal& journal) {
  const Arms arms = divide_into_arms(journal);
  TrialsByCell trials;
  std::set<std::tuple<size_t, std::string, int>> seen;
  for (size_t i = 0; i < journal.trials.size(); ++i) {
    const TrialRecord& trial = journal.trials[i];
    if (trial.judgement.bystander) continue;
    if (!seen.emplace(arms.of_trial[i], to_string(trial.cell), trial.trial).second) continue;
    trials[{arms.of_trial[i], to_string(trial.cell)}].push_back(&trial);
  }
  return trials;
}

std::string title_of(const TrialRecord& trial) {
  if (!trial.judgement.signature.empty()) return trial.judgement.signature;
  return std::string(name_of(trial.judgement.outcome));
}

/// What a person needs of a failed trial: where it was, its stack, and the end of what it printed.
std::string body_of(const TrialRecord& trial) {
  std::string text =
      fmt::format("{}, trial {}\n", std::string(name_of(trial.judgement.outcome)), trial.trial);
  const auto judged = static_cast<size_t>(std::max(0, trial.judged_process));
  if (judged >= trial.processes.size()) return text;
  const ProcessRecord& process = trial.processes[judged];
  for (const ThreadStack& stack : process.stacks.threads) {
    if (!stack.faulting && trial.judgement.outcome != Outcome::hang) continue;
    text += thread_in_words(stack) + ":\n" + stack_in_words(stack.frames, kMostFrames) + "\n";
  }
  const std::string said = process.err.text();
  return text + last_lines(said.empty() ? process.out.text() : said, 20, 400);
}

std::string failure_xml(std::string_view element, const TrialRecord& trial) {
  return fmt::format("   <{} type=\"{}\" message=\"{}\">", element, markup(title_of(trial)),
                     markup(title_of(trial)));
}

std::string failures_xml(const std::vector<const TrialRecord*>& failed) {
  std::string xml;
  for (size_t i = 0; i < failed.size() && i <= kMostReruns; ++i) {
    const TrialRecord& trial = *failed[i];
    const std::string body = markup(body_of(trial), kLongestBody, Lines::keep);
    xml += i == 0 ? failure_xml("failure", trial) + body + "</failure>\n"
                  : failure_xml("rerunFailure", trial) + "<stackTrace>" + body +
                        "</stackTrace></rerunFailure>\n";
  }
  return xml;
}

std::string property_xml(std::string_view name, std::string_view value) {
  return fmt::format("   <property name=\"{}\" value=\"{}\"/>\n", name, markup(value));
}

struct CaseXml {
  std::string inside;
  bool failed = false;
  bool skipped = false;
};

CaseXml case_of(const CellSummary& cell, const std::vector<const TrialRecord*>& failed) {
  const Standing standing = standing_of(cell);
  const std::string words = standing.word + (standing.rest.empty() ? "" : " " + standing.rest);
  CaseXml made;
  if (cell.expected == Expected::unmet) {
    made.failed = true;
    made.inside = failed.empty() ? fmt::format("   <failure type=\"unexpected\" message=\"{}\"/>\n",
                                               markup(words))
                                 : failures_xml(failed);
  } else if (!cell.verdict || (cell.failures > 0 && cell.expected == Expected::met)) {
    made.skipped = true;
    made.inside = fmt::format("   <skipped message=\"{}{}\"/>\n",
                              cell.verdict ? "fails as expected: " : "", markup(words));
  } else if (cell.failures > 0) {
    made.failed = true;
    made.inside = failures_xml(failed);
  }
  return made;
}

}  // namespace

std::string report_junit(const Journal& journal, const Analysis& analysis) {
  const TrialsByCell trials = trials_by_cell(journal);
  const std::string prefix(class_prefix(analysis));
  std::string suites;
  int all_failed = 0;
  for (const CellSummary& cell : analysis.cells) {
    const Arm& arm = analysis.arms[cell.arm];
    std::vector<const TrialRecord*> failed;
    double seconds = 0;
    if (const auto at = trials.find({cell.arm, cell.id}); at != trials.end()) {
      for (const TrialRecord* trial : at->second) {
        seconds += trial->seconds;
        if (is_failure(trial->judgement.outcome)) failed.push_back(trial);
      }
    }
    const CaseXml made = case_of(cell, failed);
    all_failed += made.failed ? 1 : 0;
    suites += fmt::format(
        " <testsuite name=\"{}{}\" tests=\"1\" failures=\"{}\" errors=\"0\" skipped=\"{}\" "
        "time=\"{:.3f}\" timestamp=\"{}\">\n  <properties>\n",
        prefix, markup(cell.id), made.failed ? 1 : 0, made.skipped ? 1 : 0, std::max(0.0, seconds),
        markup(analysis.header.started.substr(0, 19)));
    suites += property_xml("device_class", cell.simulated     ? "SIMULATED"
                                           : cell.paravirtual ? "PARAVIRTUAL"
                                                              : "real");
    suites += property_xml("worker", arm.label);
    suites += property_xml("library", library_in_words(arm));
    suites += property_xml("planned", std::to_string(cell.planned));
    suites += property_xml("n", std::to_string(cell.counted));
    suites += property_xml("k", std::to_string(cell.failures));
    suites += property_xml("rate_low_95", fmt::format("{:.6g}", cell.rate.low));
    suites += property_xml("rate_high_95", fmt::format("{:.6g}", cell.rate.high));
    if (failed.size() > kMostReruns + 1) {
      suites += property_xml("failures_left_out", std::to_string(failed.size() - kMostReruns - 1));
    }
    suites += fmt::format(
        "  </properties>\n  <testcase classname=\"{}{}\" name=\"{}\" time=\"{:.3f}\">\n{}"
        "  </testcase>\n </testsuite>\n",
        prefix, markup(arm.label), markup(cell.id), std::max(0.0, seconds), made.inside);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- mpsprobe report: junit -->\n"
      "<testsuites name=\"{}mpsprobe {}\" tests=\"{}\" failures=\"{}\" errors=\"0\">\n{}"
      "</testsuites>\n",
      prefix, markup(analysis.header.matrix_name), analysis.cells.size(), all_failed, suites);
}

}  // namespace mpsprobe
