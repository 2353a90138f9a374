#include "harness/bisect/simulated_bisection.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/bisect/change_point.h"
#include "harness/statistics/simulated_trials.h"

namespace mpsprobe {

std::vector<PlantedChange> planted_changes() {
  std::vector<PlantedChange> planted;
  for (const int before : {0, 1, 5, 10, 30}) {
    for (const int after : {10, 20, 40, 100}) {
      if (after - before < 10) continue;
      planted.push_back({fmt::format("began_{}_{}", before, after), before / 100.0, after / 100.0});
      planted.push_back({fmt::format("ended_{}_{}", after, before), after / 100.0, before / 100.0});
    }
  }
  for (const int rate : {0, 1, 5, 10, 30, 100}) {
    planted.push_back({fmt::format("none_{}", rate), rate / 100.0, rate / 100.0, false});
  }
  return planted;
}

SimulatedBisections bisect_simulated(const PlantedChange& planted, size_t builds, double confidence,
                                     int most_trials, int bisections, uint64_t seed) {
  SimulatedTrials random(seed);
  SimulatedBisections all;
  for (; all.bisections < bisections; ++all.bisections) {
    const size_t place =
        planted.culprit
            ? 1 + static_cast<size_t>(random.uniform() * static_cast<double>(builds - 1))
            : 0;
    std::vector<Proportion> seen(builds);
    int trials = 0;
    ChangePoint change = find_change(seen);
    while (change.confidence < confidence && trials < most_trials) {
      const size_t build = change.build_to_try();
      ++trials;
      ++seen[build].trials;
      const bool after = planted.culprit && build >= place;
      seen[build].failures += random.fails(after ? planted.after : planted.before) ? 1 : 0;
      change = find_change(seen);
    }
    all.mean_trials += trials / static_cast<double>(bisections);
    all.largest_trials = std::max(all.largest_trials, trials);
    if (change.confidence < confidence) {
      ++all.undecided;
      const std::vector<size_t> possible = change.possible(confidence);
      all.held += std::count(possible.begin(), possible.end(), place) > 0 ? 1 : 0;
      continue;
    }
    const size_t found = change.likeliest();
    const bool direction =
        !planted.culprit || (change.began[found] > 0.5) == (planted.after > planted.before);
    all.right += found == place && direction ? 1 : 0;
  }
  return all;
}

}  // namespace mpsprobe
