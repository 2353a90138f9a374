#include "scenarios/sim/face/simulation.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <utility>

#include "harness/wire/input_error.h"
#include "scenarios/sim/face/face.h"

namespace mpsprobe::sim::face {
namespace {

std::mutex start_mutex;
std::atomic<Simulation*> running = nullptr;

double draw() {
  std::random_device device;
  return static_cast<double>(device()) / (static_cast<double>(std::random_device::max()) + 1);
}

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
  const std::string& hash = simulation->profile.hash;
  const std::string banner = "mpsprobe: SIMULATED Metal device, profile " +
                             simulation->profile.name + (hash.empty() ? "" : " (" + hash + ")") +
                             ": nothing here is evidence about Apple hardware\n";
  std::fwrite(banner.data(), 1, banner.size(), stderr);
  std::fflush(stderr);
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
  std::string text;
  try {
    if (profile_json_path == nullptr || *profile_json_path == '\0') {
      throw InputError("simulated Metal device", "no profile given",
                       "Give the path of a profile, see docs/sim.md");
    }
    sim::face::start(sim::load_profile(profile_json_path));
    return 0;
  } catch (const std::exception& problem) {
    text = problem.what();
  } catch (...) {
    text = "simulated Metal device: unknown failure at start";
  }
  if (error != nullptr && error_bytes > 0) std::snprintf(error, error_bytes, "%s", text.c_str());
  return 1;
}

const char* mpsprobe_metal_face_describe(void) {
  static const std::string text = [] {
    const mpsprobe::sim::Profile& profile = mpsprobe::sim::face::simulation().profile;
    return nlohmann::json{{"simulated", true},
                          {"profile", profile.name},
                          {"profile_hash", profile.hash},
                          {"device", "simulated Metal device"}}
        .dump();
  }();
  return text.c_str();
}
