#include "scenarios/backends/each_backend.h"
#include "scenarios/backends/other_worker.h"
#include "scenarios/worker/workload.h"

// Stands for mps.cpp in a worker that is not built for macOS. Cells of mps never come here where
// the worker of the stand-in is.

namespace mpsprobe {
namespace {

constexpr const char* kNoStandIn =
    "MPS needs macOS on Apple silicon; here its worker on the simulated device, "
    "mpsprobe-mps-worker, was not built, which needs LibTorch 2.15 or later";

}  // namespace

std::unique_ptr<Device> open_mps(const Cell&) {
  throw UnsupportedError(std::string("backend mps: ") + kNoStandIn +
                         ". Use backend sim or cpu here");
}

BackendReport report_mps() {
  return report_of_other_worker(Backend::mps, kNoStandIn);
}

}  // namespace mpsprobe
