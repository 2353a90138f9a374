#pragma once

#include <memory>

#include "scenarios/metal/recipe.h"
#include "scenarios/sim/defects.h"
#include "scenarios/sim/metal.h"
#include "scenarios/sim/operations.h"
#include "scenarios/sim/profile.h"
#include "scenarios/sim/stream.h"
#include "scenarios/worker/workload.h"

namespace mpsprobe::sim {

/// The simulated device of a process that has no LibTorch. What defects and streams need, for all
/// threads.
struct SimulatedDevice {
  explicit SimulatedDevice(const Profile& profile);

  metal::Device device;
  StreamPool streams;
  DefectEngine defects;
  PathSettings settings = PathSettings::from_environment();
};

/// What `operation` encodes goes through `device`, step by step, as LibTorch's operation of that
/// name does below the observer; its numbers are computed on the CPU. Throws UnsupportedError for
/// what the operation has not. `device` and `operation` outlive it.
std::unique_ptr<Workload> make_sim_workload(const mpsprobe::metal::MetalOperation& operation,
                                            const Cell& cell, uint64_t seed,
                                            SimulatedDevice& device);

}  // namespace mpsprobe::sim
