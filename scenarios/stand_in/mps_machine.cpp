#include "scenarios/backends/mps_machine.h"

#include <nlohmann/json.hpp>

#include "scenarios/provenance/profile_path.h"
#include "scenarios/stand_in/stand_in.h"
#include "scenarios/worker/workload.h"

namespace mpsprobe {

bool mps_is_simulated() {
  return true;
}

void prepare_mps(const Cell& cell) {
  char error[1024] = {};
  if (mpsprobe_stand_in_start(profile_path(cell.profile).c_str(), error, sizeof(error)) != 0) {
    throw SetupError(error);
  }
}

nlohmann::json describe_mps() {
  return nlohmann::json::parse(mpsprobe_stand_in_describe());
}

}  // namespace mpsprobe
