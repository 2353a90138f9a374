#include "reproducers/minimise/minimum.h"

#include <algorithm>
#include <cmath>

#include "harness/wire/loaded_library.h"

namespace mpsprobe {

BuildIdentity build_identity(const nlohmann::json& provenance) {
  const LibraryUnderTest library = library_under_test(provenance);
  return {library.version, library.git_hash, library.build_id};
}

double expected_runs(const Tally& reliability) {
  if (reliability.failures == 0) return 0;
  return static_cast<double>(reliability.trials) / reliability.failures;
}

int runs_for_95_percent(const Tally& reliability) {
  if (reliability.failures == 0) return 0;
  if (reliability.failures == reliability.trials) return 1;
  const double lowest = reliability.interval().low;
  return static_cast<int>(std::min(1e9, std::ceil(std::log(0.05) / std::log1p(-lowest))));
}

}  // namespace mpsprobe
