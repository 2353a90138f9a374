#include "scenarios/backends/mps.h"
#include "scenarios/worker/workload.h"

// Stands for mps.cpp in a worker that is not built for macOS.

namespace mpsprobe {
namespace {

constexpr const char* kReason =
    "MPS needs macOS on Apple silicon; this worker runs on another system";

}  // namespace

std::unique_ptr<Device> open_mps(const Cell&) {
  throw UnsupportedError(std::string("backend mps: ") + kReason + ". Use backend sim or cpu here");
}

BackendReport report_mps() {
  return {.backend = Backend::mps, .reason = kReason};
}

}  // namespace mpsprobe
