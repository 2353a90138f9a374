#include <algorithm>
#include <map>
#include <tuple>

#include "reports/words/report_words.h"
#include "reproducers/tracker/issue_text.h"

namespace mpsprobe {
namespace {

/// Which cells are rows of one table.
Cell without_counts(Cell cell) {
  cell.threads = 1;
  cell.iterations = 1;
  return cell;
}

std::string version_of(const Arm& arm, bool needs_id) {
  std::string version = arm.version;
  if (version.empty()) version = arm.interpreter.empty() ? "no library" : library_in_words(arm);
  if (!needs_id) return version;
  const std::string& id = arm.build_id.empty() ? arm.git_hash : arm.build_id;
  if (!id.empty()) version += ", build " + id.substr(0, 12);
  return version + " (" + arm.label + ")";
}

}  // namespace

std::vector<CrashRow> crash_table(const Analysis& analysis, const Cell& cell,
                                  const std::string& signature) {
  std::map<std::string, int> arms_of_version;
  for (const Arm& arm : analysis.arms) ++arms_of_version[arm.version];
  std::map<std::pair<size_t, std::string>, int> with_signature;
  std::map<std::pair<size_t, std::string>, int> otherwise;
  for (const SignatureGroup& group : analysis.signatures) {
    for (const SignatureGroup::Where& where : group.cells) {
      auto& counts = group.title == signature ? with_signature : otherwise;
      counts[{where.arm, where.cell}] += where.failures;
    }
  }
  std::vector<std::pair<size_t, CrashRow>> rows;
  for (const CellSummary& summary : analysis.cells) {
    if (summary.counted == 0 || without_counts(summary.cell) != without_counts(cell)) continue;
    const Arm& arm = analysis.arms[summary.arm];
    const std::pair<size_t, std::string> key{summary.arm, summary.id};
    CrashRow row;
    row.version = version_of(arm, arms_of_version[arm.version] > 1);
    row.threads = summary.cell.threads;
    row.iterations = summary.cell.iterations;
    row.crashed = {with_signature[key], summary.counted};
    row.crash_rate = rate_interval(analysis.sampling, row.crashed.failures, row.crashed.trials);
    row.otherwise = otherwise[key];
    row.proved = arm.proved;
    rows.emplace_back(summary.arm, row);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first, a.second.threads, a.second.iterations) <
           std::tie(b.first, b.second.threads, b.second.iterations);
  });
  std::vector<CrashRow> table;
  for (const auto& [arm, row] : rows) table.push_back(row);
  return table;
}

}  // namespace mpsprobe
