#include "reports/difference/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/statistics/anytime.h"

namespace mpsprobe {
namespace {

using CellKey = std::pair<std::string, std::string>;

/// One test of the family over which false claims are held.
struct Hypothesis {
  CellKey key;
  std::string title;  ///< empty: of the cell's failures altogether
  Proportion before;
  Proportion after;
  bool of_refusals = false;
  double p = 1;
};

/// A run of one arm is compared with another's only one, whatever they are called.
RunFacts renamed_like(const RunFacts& run, const RunFacts& other) {
  if (run.arms.size() != 1 || other.arms.size() != 1) return run;
  const std::string& label = other.arms.begin()->first;
  RunFacts renamed = run;
  renamed.arms = {{label, run.arms.begin()->second}};
  renamed.cells.clear();
  for (const auto& [key, facts] : run.cells) renamed.cells[{label, key.second}] = facts;
  return renamed;
}

double rate_of(const Proportion& side) {
  return static_cast<double>(side.failures) / side.trials;
}

std::string most_frequent(const CellFacts& facts) {
  std::string title;
  int most = 0;
  for (const auto& [each, failures] : facts.titles) {
    if (failures > most) title = each, most = failures;
  }
  return title;
}

void add_titles(std::vector<Hypothesis>& family, const CellKey& key, const CellFacts& before,
                const CellFacts& after) {
  std::map<std::string, std::pair<int, int>> titles;
  for (const auto& [title, failures] : before.titles) titles[title].first = failures;
  for (const auto& [title, failures] : after.titles) titles[title].second = failures;
  if (titles.size() < 2) return;  // the cell's own test says it
  for (const auto& [title, failures] : titles) {
    family.push_back(
        {key, title, {failures.first, before.counted}, {failures.second, after.counted}});
  }
}

std::vector<Hypothesis> family_of(const RunFacts& before, const RunFacts& after,
                                  Difference& difference) {
  std::vector<Hypothesis> family;
  for (const auto& [key, now] : after.cells) {
    const auto at = before.cells.find(key);
    if (at == before.cells.end()) continue;
    const CellFacts& then = at->second;
    if (then.counted + then.refused == 0 || now.counted + now.refused == 0) continue;
    ++difference.compared;
    if (then.refused + now.refused > 0) {
      family.push_back({key,
                        "",
                        {then.refused, then.counted + then.refused},
                        {now.refused, now.counted + now.refused},
                        true});
    }
    if (then.counted == 0 || now.counted == 0) continue;
    if (then.failures + now.failures == 0) continue;
    family.push_back({key, "", {then.failures, then.counted}, {now.failures, now.counted}});
    if (then.failures > 0 && now.failures > 0) add_titles(family, key, then, now);
  }
  const bool looked = before.sampling == Sampling::looking || after.sampling == Sampling::looking;
  const Sampling sampling = looked ? Sampling::looking : Sampling::fixed;
  for (Hypothesis& each : family) each.p = equality_p_value(sampling, each.before, each.after);
  return family;
}

std::optional<Change> change_of(const Hypothesis& tested) {
  const int before = tested.before.failures;
  const int after = tested.after.failures;
  if (tested.of_refusals) {
    return rate_of(tested.after) > rate_of(tested.before) ? Change::refused : Change::refused_less;
  }
  if (!tested.title.empty()) {
    if (before == 0) return Change::new_signature;
    if (after == 0) return Change::signature_unseen;
    return std::nullopt;  // oftener or not: the cell's own test is for that
  }
  if (before == 0) return Change::new_failure;
  if (after == 0) return Change::none_seen;
  return rate_of(tested.after) > rate_of(tested.before) ? Change::more_often : Change::less_often;
}

std::set<std::string> counted_cells(const RunFacts& run) {
  std::set<std::string> cells;
  for (const auto& [key, facts] : run.cells) {
    if (facts.counted + facts.refused > 0)
      cells.insert(run.arms.size() > 1 ? key.first + ": " + key.second : key.second);
  }
  return cells;
}

void compare_words(std::vector<std::string>& found, std::string_view what,
                   const std::string& before, const std::string& after) {
  if (before == after) return;
  found.push_back(fmt::format("{}: \"{}\" and \"{}\"", what, before, after));
}

/// A package that one of them alone had loaded is no difference: what is imported may hang on what
/// a trial came to.
void compare_packages(std::vector<std::string>& found, const ArmFacts& before,
                      const ArmFacts& after) {
  std::map<std::string, std::string> releases;
  for (const std::string& package : before.packages) {
    releases[package.substr(0, package.rfind(' '))] = package;
  }
  for (const std::string& package : after.packages) {
    const auto at = releases.find(package.substr(0, package.rfind(' ')));
    if (at != releases.end()) compare_words(found, "package", at->second, package);
  }
}

}  // namespace

Unlike unlike(const RunFacts& before, const RunFacts& after) {
  Unlike found;
  for (const char* key : {"chip", "model", "architecture", "os", "os_build", "kernel"}) {
    compare_words(found.machines, key, machine_fact(before, key), machine_fact(after, key));
  }
  const RunFacts renamed = renamed_like(before, after);
  for (const auto& [label, arm] : after.arms) {
    const auto at = renamed.arms.find(label);
    if (at == renamed.arms.end()) continue;
    compare_words(found.libraries, "library of " + label, at->second.library, arm.library);
    compare_packages(found.libraries, at->second, arm);
    compare_words(found.machines, "device of " + label, at->second.devices, arm.devices);
  }
  compare_words(found.code, "command or file", before.code, after.code);
  found.device_class = before.simulated != after.simulated;
  return found;
}

Difference compare_runs(const RunFacts& before_as_named, const RunFacts& after) {
  const RunFacts before = renamed_like(before_as_named, after);
  Difference difference;
  difference.simulated = before.simulated || after.simulated;
  std::vector<Hypothesis> family = family_of(before, after, difference);
  difference.tested = static_cast<int>(family.size());
  std::vector<double> p_values;
  for (const Hypothesis& each : family) p_values.push_back(each.p);
  const std::vector<double> corrected = false_discovery_corrected(p_values);
  // One cell alone, among all that were tested, is claimed below this.
  const double level = kFalseDiscoveries / std::max<double>(1, static_cast<double>(family.size()));

  for (size_t i = 0; i < family.size(); ++i) {
    const Hypothesis& tested = family[i];
    const CellFacts& now = after.cells.at(tested.key);
    const CellFacts& then = before.cells.at(tested.key);
    CellChange change{Change::unclear, tested.key.first, tested.key.second, tested.title,
                      tested.before,   tested.after,     tested.p,          corrected[i],
                      std::nullopt,    now.simulated};
    if (tested.of_refusals) {
      change.title = fmt::format("failed {}/{} -> {}/{} beside that", then.failures, then.counted,
                                 now.failures, now.counted);
    } else if (change.title.empty()) {
      change.title = most_frequent(now.failures > 0 ? now : then);
    }
    const std::optional<Change> kind = change_of(tested);
    if (corrected[i] < kFalseDiscoveries) {
      if (!kind) continue;
      change.change = *kind;
      difference.changes.push_back(change);
    } else if (kind == Change::new_failure || kind == Change::none_seen) {
      const auto needed = trials_to_tell(rate_of(tested.before), rate_of(tested.after), level);
      if (needed) {
        change.more_trials =
            std::max(1, *needed - std::min(tested.before.trials, tested.after.trials));
      }
      difference.unclear.push_back(change);
    }
  }
  const auto surer = [](const CellChange& a, const CellChange& b) { return a.p < b.p; };
  std::stable_sort(difference.changes.begin(), difference.changes.end(), surer);
  std::stable_sort(difference.unclear.begin(), difference.unclear.end(), surer);

  const std::set<std::string> then = counted_cells(before);
  const std::set<std::string> now = counted_cells(after);
  std::set_difference(now.begin(), now.end(), then.begin(), then.end(),
                      std::back_inserter(difference.came));
  std::set_difference(then.begin(), then.end(), now.begin(), now.end(),
                      std::back_inserter(difference.went));
  for (const auto& [key, facts] : after.cells) {
    if (facts.unexpected) difference.unexpected.push_back(key.second);
  }
  return difference;
}

}  // namespace mpsprobe
