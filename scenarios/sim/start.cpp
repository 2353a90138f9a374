#include "scenarios/sim/start.h"

#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <random>

namespace mpsprobe::sim {

void say_simulated(const Profile& profile) {
  const std::string hash = profile.hash.empty() ? "" : " (" + profile.hash + ")";
  const std::string banner = "mpsprobe: SIMULATED Metal device, profile " + profile.name + hash +
                             ": nothing here is evidence about Apple hardware\n";
  std::fwrite(banner.data(), 1, banner.size(), stderr);
  std::fflush(stderr);
}

std::string description_of(const Profile& profile) {
  return nlohmann::json{{"simulated", true},
                        {"profile", profile.name},
                        {"profile_hash", profile.hash},
                        {"device", "simulated Metal device"}}
      .dump();
}

int start_for_c(const std::function<void()>& start, char* error, size_t error_bytes) {
  std::string text;
  try {
    start();
    return 0;
  } catch (const std::exception& problem) {
    text = problem.what();
  } catch (...) {
    text = "simulated Metal device: unknown failure at start";
  }
  if (error != nullptr && error_bytes > 0) std::snprintf(error, error_bytes, "%s", text.c_str());
  return 1;
}

double draw() {
  std::random_device device;
  return static_cast<double>(device()) / (static_cast<double>(std::random_device::max()) + 1);
}

}  // namespace mpsprobe::sim
