#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/statistics/anytime.h"
#include "reports/words/safe_text.h"
#include "reproducers/reverify/verdict.h"

namespace mpsprobe {
namespace {

using ordered = nlohmann::ordered_json;

std::string_view prefix(const BundleRecord& record, const Analysis& analysis) {
  if (record.simulated || analysis.simulated) return "SIMULATED: ";
  return record.paravirtual || analysis.paravirtual ? "PARAVIRTUAL GPU: " : "";
}

std::string words_of(RecheckFinding finding) {
  std::string words(name_of(finding));
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

const std::string& label_of(const ArmNow& arm, const Analysis& analysis) {
  return analysis.arms[analysis.cells[arm.summary].arm].label;
}

/// "9/20" or "9/20 and 2 otherwise".
std::string counts(const Proportion& same, int otherwise) {
  return fmt::format("{}/{}", same.failures, same.trials) +
         (otherwise > 0 ? fmt::format(" and {} otherwise", otherwise) : "");
}

std::string counts(const char* role, const std::optional<ArmNow>& arm, const Analysis& analysis) {
  if (!arm.has_value()) return fmt::format("{} not run", role);
  return fmt::format("{} ({}) {}", role, label_of(*arm, analysis),
                     counts(arm->same, arm->otherwise));
}

// What was not seen is not said to be mended: only below which rate it is.
double bound_of(const RecheckedCell& cell, const Analysis& analysis) {
  const Sampling sampling = analysis.complete ? analysis.sampling : Sampling::looking;
  return rate_interval(sampling, 0, cell.new_arm->same.trials).high;
}

/// "cell (control): before 10/10, old arm (old) 20/20, new arm (stock) 0/20: none seen (below
/// 17%)".
std::string cell_text(const RecheckedCell& cell, const Analysis& analysis) {
  const std::optional<ArmNow>& today = cell.new_arm.has_value() ? cell.new_arm : cell.old_arm;
  std::string text =
      fmt::format("{}{}: before {}, {}, {}: {}", to_string(cell.before.cell),
                  cell.before.control ? " (control)" : "",
                  counts({cell.before.failures, cell.before.trials}, cell.before.otherwise),
                  counts("old arm", cell.old_arm, analysis),
                  counts("new arm", cell.new_arm, analysis), words_of(cell.finding));
  if (cell.finding == RecheckFinding::fails_otherwise) text += ": " + today->other_signature;
  if (cell.finding == RecheckFinding::none_seen) {
    text += fmt::format(" (below {})", percent_up(bound_of(cell, analysis)));
  }
  if (!cell.reasons.empty()) text += fmt::format(": {}", fmt::join(cell.reasons, "; "));
  return text;
}

std::vector<std::string> remarks(const BundleRecord& record, const Analysis& analysis,
                                 const std::vector<std::string>& not_set) {
  std::vector<std::string> lines;
  if (!analysis.complete) {
    lines.emplace_back("The run was cut short: what is said holds for the trials that were run.");
  }
  const std::string before = system_of(record.machine);
  const std::string now = system_of(analysis.header.machine);
  if (!before.empty() && before != now) {
    lines.push_back(
        fmt::format("The system was {} and is {} now. No arm ran on the old one: what changed with "
                    "the system is never told apart here.",
                    before, now));
  }
  if (!not_set.empty()) {
    lines.push_back(
        fmt::format("The bundle's run set variables that this one did not: {}. Give them with "
                    "--env.",
                    fmt::join(not_set, ", ")));
  }
  return lines;
}

ordered arm_json(const std::optional<ArmNow>& arm, const Analysis& analysis) {
  if (!arm.has_value()) return nullptr;
  return {{"label", label_of(*arm, analysis)},
          {"failures", arm->same.failures},
          {"otherwise", arm->otherwise},
          {"other_signature", arm->other_signature},
          {"trials", arm->same.trials}};
}

}  // namespace

std::string in_words(const BundleVerdict& verdict, const BundleRecord& record,
                     const Analysis& analysis) {
  std::string text = std::string(prefix(record, analysis)) + words_of(verdict.finding);
  if (!verdict.other_signature.empty()) text += ": " + verdict.other_signature;
  if (verdict.finding == RecheckFinding::none_seen) {
    double highest = 0;
    for (const RecheckedCell& cell : verdict.cells) {
      if (cell.finding != RecheckFinding::none_seen) continue;
      highest = std::max(highest, bound_of(cell, analysis));
    }
    text += fmt::format(" (below {}), and the old build failed again", percent_up(highest));
  }
  if (!verdict.reasons.empty()) text += fmt::format(": {}", fmt::join(verdict.reasons, "; "));
  return text;
}

std::string verdict_text(const BundleVerdict& verdict, const BundleRecord& record,
                         const Analysis& analysis, const std::vector<std::string>& not_set) {
  std::vector<std::string> lines{std::string(prefix(record, analysis)) + record.signature, ""};
  for (const RecheckedCell& cell : verdict.cells) lines.push_back(cell_text(cell, analysis));
  for (std::string& remark : remarks(record, analysis, not_set)) lines.push_back(remark);
  lines.insert(lines.end(), {"", in_words(verdict, record, analysis)});
  std::string text;
  for (const std::string& line : lines) text += printable(line) + "\n";
  return text;
}

ordered verdict_json(const BundleVerdict& verdict, const BundleRecord& record,
                     const Analysis& analysis, const std::vector<std::string>& not_set) {
  ordered json = {{"mpsprobe_verify", 3},
                  {"simulated", record.simulated || analysis.simulated},
                  {"paravirtual", record.paravirtual || analysis.paravirtual},
                  {"signature", record.signature},
                  {"measured", record.measured},
                  {"verified", analysis.header.started},
                  {"complete", analysis.complete},
                  {"finding", name_of(verdict.finding)},
                  {"words", in_words(verdict, record, analysis)},
                  {"reasons", verdict.reasons},
                  {"other_signature", verdict.other_signature},
                  {"trials_needed", nullptr},
                  {"not_set", not_set}};
  if (verdict.trials_needed.has_value()) json["trials_needed"] = *verdict.trials_needed;
  json["cells"] = ordered::array();
  for (const RecheckedCell& cell : verdict.cells) {
    json["cells"].push_back({{"cell", to_string(cell.before.cell)},
                             {"control", cell.before.control},
                             {"finding", name_of(cell.finding)},
                             {"reasons", cell.reasons},
                             {"before",
                              {{"failures", cell.before.failures},
                               {"otherwise", cell.before.otherwise},
                               {"trials", cell.before.trials}}},
                             {"old_arm", arm_json(cell.old_arm, analysis)},
                             {"new_arm", arm_json(cell.new_arm, analysis)}});
  }
  return json;
}

}  // namespace mpsprobe
