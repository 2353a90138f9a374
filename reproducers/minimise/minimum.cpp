#include "reproducers/minimise/minimum.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace mpsprobe {
namespace {

std::string text_at(const nlohmann::json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : "";
}

}  // namespace

BuildIdentity build_identity(const nlohmann::json& provenance) {
  if (!provenance.is_object()) return {};
  const auto torch = provenance.find("torch");
  if (torch == provenance.end() || !torch->is_object()) return {};
  BuildIdentity build{text_at(*torch, "version"), text_at(*torch, "git_hash"),
                      text_at(*torch, "build_id")};
  if (build.build_id.empty()) build.build_id = text_at(*torch, "uuid");
  return build;
}

double expected_runs(const Tally& reliability) {
  if (reliability.failures == 0) return 0;
  return static_cast<double>(reliability.trials) / reliability.failures;
}

int runs_for_95_percent(const Tally& reliability) {
  if (reliability.failures == 0) return 0;
  if (reliability.failures == reliability.trials) return 1;
  const double rate = static_cast<double>(reliability.failures) / reliability.trials;
  return static_cast<int>(std::ceil(std::log(0.05) / std::log1p(-rate)));
}

}  // namespace mpsprobe
