#include "reports/groups/simulated_groups.h"

#include <array>
#include <vector>

#include "harness/statistics/simulated_trials.h"
#include "reports/groups/failure_groups.h"

namespace mpsprobe {

SimulatedGroups group_simulated(const PlantedNeeds& planted, int worlds, uint64_t seed) {
  constexpr size_t kOperations = 8;
  SimulatedTrials random(seed);
  const auto cell = [&](double rate) {
    Proportion seen{0, planted.trials};
    for (int i = 0; i < planted.trials; ++i) seen.failures += random.fails(rate) ? 1 : 0;
    return seen;
  };
  SimulatedGroups result;
  for (; result.worlds < worlds; ++result.worlds) {
    FailureGroups found;
    std::vector<std::array<bool, 4>> truth;
    for (size_t i = 0; i < kOperations; ++i) {
      FailingOperation operation;
      operation.seen = cell(planted.rate);
      std::array<bool, 4>& needs = truth.emplace_back();
      for (size_t k = 0; k < needs.size(); ++k) {
        needs[k] = planted.all_the_same || random.fails(0.5);
        ConditionSeen& condition = operation.conditions.emplace_back();
        condition.without = cell(needs[k] ? 0 : planted.rate * planted.without_share);
        condition.strata = {{operation.seen, condition.without}};
      }
      found.operations.push_back(std::move(operation));
    }
    judge_groups(found, Sampling::fixed);
    bool wrong = false;
    for (const FailureGroup& group : found.groups) {
      for (const size_t each : group.operations) {
        wrong = wrong || truth[each] != truth[group.operations.front()];
      }
      result.whole += group.operations.size() == kOperations ? 1 : 0;
    }
    result.false_joins += wrong ? 1 : 0;
  }
  return result;
}

}  // namespace mpsprobe
