#include "harness/campaign/usual_jobs.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace mpsprobe {
namespace {

constexpr uint64_t kMostUsualJobs = 8;

/// Whether threads of this worker compute one at a time, by its answer to `describe`.
bool has_interpreter_lock(const WorkerInfo& worker) {
  const nlohmann::json::json_pointer gil("/provenance/python/gil");
  return worker.describe.is_object() && worker.describe.contains(gil) &&
         worker.describe.at(gil) == true;
}

}  // namespace

int usual_jobs(const std::set<Backend>& backends, const std::vector<WorkerInfo>& workers,
               uint64_t cores) {
  const bool locked =
      !workers.empty() && std::all_of(workers.begin(), workers.end(), has_interpreter_lock);
  const bool one = std::any_of(backends.begin(), backends.end(), [&](Backend backend) {
    const BackendInfo& info = info_of(backend);
    return info.real_device || (info.wants_cores && !locked);
  });
  return one ? 1 : static_cast<int>(std::clamp<uint64_t>(cores, 1, kMostUsualJobs));
}

}  // namespace mpsprobe
