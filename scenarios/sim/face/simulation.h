#pragma once

#include "scenarios/sim/defects.h"
#include "scenarios/sim/metal.h"
#include "scenarios/sim/profile.h"

namespace mpsprobe::sim::face {

/// What all objects of the face share. Lives as long as the process: threads that never end may be
/// inside while it exits.
struct Simulation {
  explicit Simulation(Profile chosen);

  const Profile profile;
  metal::Device device;
  DefectEngine defects;
};

/// The simulation of this process. Started on first use where face.h's function did not: with the
/// profile that MPSPROBE_SIM_PROFILE names, or without defects. Where that profile is broken, the
/// process ends with exit status 3 and the reason on stderr. Any thread.
Simulation& simulation();

}  // namespace mpsprobe::sim::face
