#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "harness/statistics/stratified.h"
#include "harness/wire/axis.h"
#include "reports/claims/comparisons.h"
#include "reports/words/cell_label.h"
#include "reports/words/counted.h"
#include "reports/words/report_words.h"

namespace mpsprobe {
namespace {

constexpr std::array<std::string_view, 7> kCompared{"lock",  "throttle", "warmup", "wait",
                                                    "owner", "stream",   "env"};
/// What people try against failures, of which all comparisons together are a claim as well.
constexpr std::array<std::string_view, 3> kTogether{"lock", "throttle", "processes"};

/// Two cells, the same but for one axis.
struct CellPair {
  size_t with = 0;
  size_t without = 0;
};

/// The pairs of one claim, by thread count.
using PairsByThreads = std::map<int32_t, CellPair>;

class RateComparisons {
 public:
  explicit RateComparisons(Analysis& analysis) : analysis_(analysis) {
    for (size_t i = 0; i < analysis.cells.size(); ++i) {
      by_id_.try_emplace({analysis.cells[i].arm, analysis.cells[i].id}, i);
    }
  }

  void find() {
    for (const std::string_view name : kCompared) along(*find_axis(name));
    threads_and_processes();
    for (const std::string_view about : kTogether) take_together(about);
    correct();
  }

 private:
  std::string label_of(const CellSummary& cell, std::string_view axis) const {
    return with_arm(analysis_, cell_label(cell.cell, {"threads", "processes", axis}),
                    analysis_.arms[cell.arm].label);
  }

  /// The claims along one axis while they are found, each of the cells that it is about.
  struct Found {
    std::vector<std::pair<RateClaim, PairsByThreads>> claims;
    std::map<std::string, size_t> index;
  };

  // `cell` is of the group that the claim is about, at its number of threads.
  void pair(Found& found, const CellSummary& cell, const CellPair& pair, std::string_view about,
            const std::string& with, const std::string& without) const {
    Cell group = cell.cell;
    group.threads = 1;
    const auto [at, fresh] = found.index.try_emplace(
        std::to_string(cell.arm) + "/" + to_string(group), found.claims.size());
    if (fresh) {
      RateClaim claim;
      claim.about = about;
      claim.with = with;
      claim.without = without;
      claim.label = label_of(cell, about);
      found.claims.emplace_back(std::move(claim), PairsByThreads{});
    }
    found.claims[at->second].second[cell.cell.threads] = pair;
  }

  void along(const Axis& axis) {
    Found found;
    for (size_t i = 0; i < analysis_.cells.size(); ++i) {
      const CellSummary& cell = analysis_.cells[i];
      const std::string value = axis.read(cell.cell);
      if (cell.counted == 0 || value == axis.default_value) continue;
      Cell same = cell.cell;
      axis.write(same, axis, axis.default_value);
      const auto without = by_id_.find({cell.arm, to_string(same)});
      if (without == by_id_.end()) continue;
      pair(found, cell, {i, without->second}, axis.name, setting(axis, value, ", "),
           std::string(axis.name) + "=" + std::string(axis.default_value));
    }
    for (auto& [claim, pairs] : found.claims) add(std::move(claim), pairs);
  }

  // A process for each thread: as much work at a time. The default path stands for whichever path
  // LibTorch takes, where processes were asked for on that alone.
  void threads_and_processes() {
    Found found;
    for (size_t i = 0; i < analysis_.cells.size(); ++i) {
      const CellSummary& threads = analysis_.cells[i];
      if (threads.counted == 0 || threads.cell.processes != 1 || threads.cell.threads == 1) {
        continue;
      }
      Cell same = threads.cell;
      std::swap(same.threads, same.processes);
      auto with = by_id_.find({threads.arm, to_string(same)});
      if (with == by_id_.end()) {
        same.path = Path::automatic;
        with = by_id_.find({threads.arm, to_string(same)});
      }
      if (with == by_id_.end()) continue;
      pair(found, threads, {with->second, i}, "processes", "a process for each thread", "threads");
    }
    for (auto& [claim, pairs] : found.claims) add(std::move(claim), pairs);
  }

  static void add_counts(RateClaim& claim, const CellSummary& with, const CellSummary& without) {
    claim.seen_with.failures += with.failures;
    claim.seen_with.trials += with.counted;
    claim.seen_without.failures += without.failures;
    claim.seen_without.trials += without.counted;
  }

  // What the p-value is made of, and pairs without failures.
  void count(RateClaim& claim, const CellPair& pair) const {
    const CellSummary& with = analysis_.cells[pair.with];
    const CellSummary& without = analysis_.cells[pair.without];
    const bool failed = with.failures + without.failures > 0;
    if (failed && why_incomparable(with, without)) return;
    add_counts(claim, with, without);
    if (!failed) return;
    claim.strata.push_back({{with.failures, with.counted}, {without.failures, without.counted}});
  }

  void add(RateClaim claim, const PairsByThreads& pairs) {
    RateClaim all;
    for (const auto& [threads, pair] : pairs) {
      const CellSummary& with = analysis_.cells[pair.with];
      const CellSummary& without = analysis_.cells[pair.without];
      if (with.counted == 0 || without.counted == 0) continue;
      claim.cells_with.push_back(pair.with);
      claim.cells_without.push_back(pair.without);
      add_counts(all, with, without);
      claim.refused_with += with.refused;
      claim.refused_without += without.refused;
      count(claim, pair);
    }
    if (all.seen_with.failures + all.seen_without.failures == 0) {
      find_price(claim, pairs);
      if (claim.price) analysis_.priced.push_back(std::move(claim));
      return;
    }
    if (!claim.strata.empty()) {
      claim.p = stratified_p_value(analysis_.sampling, claim.strata);
    } else {
      claim.effect = RateEffect::cannot_compare;
      claim.seen_with = all.seen_with;
      claim.seen_without = all.seen_without;
    }
    find_price(claim, pairs);
    analysis_.rate_claims.push_back(std::move(claim));
  }

  // A cell that is in several claims would make their pairs depend on one another: the first one
  // has it.
  void take_together(std::string_view about) {
    RateClaim all;
    std::set<size_t> used;
    int number = 0;
    for (const RateClaim& claim : analysis_.rate_claims) {
      if (claim.about != about || claim.effect == RateEffect::cannot_compare) continue;
      const size_t before = used.size();
      for (size_t i = 0; i < claim.cells_with.size(); ++i) {
        const CellPair pair{claim.cells_with[i], claim.cells_without[i]};
        if (used.count(pair.with) + used.count(pair.without) > 0) continue;
        used.insert({pair.with, pair.without});
        all.cells_with.push_back(pair.with);
        all.cells_without.push_back(pair.without);
        count(all, pair);
      }
      if (used.size() == before) continue;
      all.with = number == 0 || all.with == claim.with ? claim.with : about;
      all.without = claim.without;
      ++number;
    }
    if (number < 2) return;
    all.about = about;
    all.label = counted(number, "comparisons") + " together";
    all.p = stratified_p_value(analysis_.sampling, all.strata);
    analysis_.claims_together.push_back(std::move(all));
  }

  // At the largest thread count at which enough trials of both passed.
  void find_price(RateClaim& claim, const PairsByThreads& pairs) const {
    if (claim.about == "processes") return;
    for (const auto& [threads, pair] : pairs) {
      if (threads == 1 && pairs.size() > 1) continue;
      const std::vector<double> ratios =
          speed_ratios(analysis_.cells[pair.with], analysis_.cells[pair.without]);
      const std::optional<Interval> within = median_interval(ratios);
      if (!within) continue;
      claim.price =
          Price{threads, spread_of(ratios)->median, *within, static_cast<int>(ratios.size())};
    }
  }

  // Trials of one number ran in one round: whatever slowed the machine slowed both.
  static std::vector<double> speed_ratios(const CellSummary& with, const CellSummary& without) {
    std::map<int, double> speeds;
    for (const TrialSpeed& each : without.speeds) speeds[each.trial] = each.operations_per_second;
    std::vector<double> ratios;
    for (const TrialSpeed& each : with.speeds) {
      const auto other = speeds.find(each.trial);
      if (other == speeds.end() || !(other->second > 0)) continue;
      ratios.push_back(each.operations_per_second / other->second);
    }
    return ratios;
  }

  // Both directions must be shown, each over the pairs of the claim and over all claims. Where the
  // setting changes nothing that hardly happens, and where it has one effect one of the two is
  // false: so with these, too, at most 5% of runs hold a false claim.
  bool is_opposite(const RateClaim& claim) const {
    if (claim.strata.size() < 2) return false;
    double less = 1;
    double more = 1;
    for (const Stratum& stratum : claim.strata) {
      const double p = equality_p_value(analysis_.sampling, stratum.first, stratum.second);
      double& side = excess_failures({&stratum, 1}) < 0 ? less : more;
      side = std::min(side, p);
    }
    return std::max(less, more) * static_cast<double>(claim.strata.size() * claim.of) < kClaimLevel;
  }

  void correct() {
    std::vector<RateClaim*> tested;
    std::vector<double> p_values;
    for (std::vector<RateClaim>* claims : {&analysis_.rate_claims, &analysis_.claims_together}) {
      for (RateClaim& claim : *claims) {
        if (claim.effect == RateEffect::cannot_compare) continue;
        tested.push_back(&claim);
        p_values.push_back(claim.p);
      }
    }
    const std::vector<double> corrected = holm_corrected(p_values);
    for (size_t i = 0; i < tested.size(); ++i) {
      RateClaim& claim = *tested[i];
      claim.corrected_p = corrected[i];
      claim.effect = effect_shown(claim.corrected_p < kClaimLevel,
                                  excess_failures(claim.strata) < 0, claim.seen_with.failures);
    }
    for (RateClaim& claim : analysis_.rate_claims) {
      claim.of = tested.size();
      if (is_opposite(claim)) claim.effect = RateEffect::opposite;
    }
    for (RateClaim& claim : analysis_.claims_together) claim.of = tested.size();
  }

  Analysis& analysis_;
  std::map<std::pair<size_t, std::string>, size_t> by_id_;
};

}  // namespace

void compare_rates(Analysis& analysis) {
  RateComparisons(analysis).find();
}

}  // namespace mpsprobe
