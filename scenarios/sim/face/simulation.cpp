#include "scenarios/sim/face/simulation.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string>
#include <utility>

#include "harness/input/input_error.h"
#include "scenarios/sim/face/face.h"
#include "scenarios/sim/start.h"

namespace mpsprobe::sim::face {
namespace {

std::mutex start_mutex;
std::atomic<Simulation*> running = nullptr;

Profile without_defects() {
  Profile profile;
  profile.name = "none";
  profile.description = "no defects";
  return profile;
}

Simulation& start(Profile profile) {
  const std::lock_guard lock(start_mutex);
  if (Simulation* already = running.load(); already != nullptr) {
    if (already->profile.name == profile.name && already->profile.hash == profile.hash) {
      return *already;
    }
    throw InputError(profile.name,
                     "the simulated device runs already with profile " + already->profile.name,
                     "Use one profile per process");
  }
  auto* const simulation = new Simulation(std::move(profile));
  running.store(simulation, std::memory_order_release);
  say_simulated(simulation->profile);
  return *simulation;
}

Simulation& start_from_environment() {
  const char* const path = std::getenv("MPSPROBE_SIM_PROFILE");
  try {
    return start(path == nullptr ? without_defects() : load_profile(path));
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "mpsprobe: MPSPROBE_SIM_PROFILE: %s\n", problem.what());
    std::fflush(stderr);
    _exit(3);
  }
}

}  // namespace

Simulation::Simulation(Profile chosen) : profile(std::move(chosen)), defects(profile, draw) {}

Simulation& simulation() {
  Simulation* const already = running.load(std::memory_order_acquire);
  return already != nullptr ? *already : start_from_environment();
}

}  // namespace mpsprobe::sim::face

int mpsprobe_metal_face_start(const char* profile_json_path, char* error, size_t error_bytes) {
  using namespace mpsprobe;
  const auto start = [&] {
    if (profile_json_path == nullptr || *profile_json_path == '\0') {
      throw InputError("simulated Metal device", "no profile given",
                       "Give the path of a profile, see docs/sim.md");
    }
    sim::face::start(sim::load_profile(profile_json_path));
  };
  return sim::start_for_c(start, error, error_bytes);
}

const char* mpsprobe_metal_face_describe(void) {
  static const std::string text =
      mpsprobe::sim::description_of(mpsprobe::sim::face::simulation().profile);
  return text.c_str();
}
