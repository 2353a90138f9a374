#include "harness/bisect/simulated_bisection.h"

#include <algorithm>

#include "harness/bisect/change_point.h"
#include "harness/statistics/simulated_trials.h"

namespace mpsprobe {

std::vector<PlantedChange> planted_changes() {
  return {{"began_100", 0, 1},          {"began_30", 0, 0.3},         {"began_10", 0, 0.1},
          {"ended_100", 1, 0},          {"ended_30", 0.3, 0},         {"ended_10", 0.1, 0},
          {"rose_20_80", 0.2, 0.8},     {"none_0", 0, 0, false},      {"none_2", 0.02, 0.02, false},
          {"none_10", 0.1, 0.1, false}, {"none_30", 0.3, 0.3, false}, {"none_100", 1, 1, false}};
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
    while (change.chances[change.likeliest()] < confidence && trials < most_trials) {
      const size_t build = change.build_to_try();
      ++trials;
      ++seen[build].trials;
      const bool after = planted.culprit && build >= place;
      seen[build].failures += random.fails(after ? planted.after : planted.before) ? 1 : 0;
      change = find_change(seen);
    }
    all.mean_trials += trials / static_cast<double>(bisections);
    all.largest_trials = std::max(all.largest_trials, trials);
    const size_t found = change.likeliest();
    if (change.chances[found] < confidence) {
      ++all.undecided;
      continue;
    }
    const bool direction =
        !planted.culprit || (change.began[found] > 0.5) == (planted.after > planted.before);
    all.right += found == place && direction ? 1 : 0;
  }
  return all;
}

}  // namespace mpsprobe
