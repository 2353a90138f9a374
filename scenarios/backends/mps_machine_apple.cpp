#include <sys/sysctl.h>

#include <nlohmann/json.hpp>

#include "scenarios/backends/mps_machine.h"
#include "scenarios/worker/workload.h"

namespace mpsprobe {
namespace {

// The processor's name, without any contact with Metal: "Apple M4 Max", "Apple M1 (Virtual)".
std::string processor_of_mac() {
  char name[128] = {};
  size_t bytes = sizeof(name) - 1;
  return sysctlbyname("machdep.cpu.brand_string", name, &bytes, nullptr, 0) == 0 ? name : "";
}

}  // namespace

bool mps_is_simulated() {
  return false;
}

void prepare_mps(const Cell& cell) {
  if (cell.profile != Cell{}.profile) {
    throw UnsupportedError("profile=" + cell.profile +
                           ": a profile is of the simulated device, and this is Apple's");
  }
}

nlohmann::json describe_mps() {
  return {{"simulated", false}, {"device", processor_of_mac()}};
}

}  // namespace mpsprobe
