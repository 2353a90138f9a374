#include "scenarios/sim/sim.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/wire/input_error.h"
#include "scenarios/sim/observer.h"
#include "scenarios/sim/profile.h"

// Only the C interface is visible, so that preloading cannot change what a program links against.
#define MPSPROBE_SIM_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using namespace mpsprobe;

std::mutex start_mutex;
// The description of the running simulation; null until it runs. Never freed: callers keep
// pointers.
std::atomic<const std::string*> description = nullptr;

bool running() {
  return description.load(std::memory_order_acquire) != nullptr;
}

void start(const char* path) {
  if (path == nullptr || *path == '\0') {
    throw InputError("simulated Metal device", "no profile given",
                     "Give the path of a profile, see docs/sim.md");
  }
  const sim::Profile profile = sim::load_profile(path);
  const nlohmann::json json = {{"simulated", true},
                               {"profile", profile.name},
                               {"profile_hash", profile.hash},
                               {"device", "simulated Metal device"}};
  const std::string text = json.dump();
  std::lock_guard lock(start_mutex);
  if (running()) {
    if (*description.load() == text) return;
    throw InputError(path, "the simulated device runs already with " + *description.load(),
                     "Use one profile per process");
  }
  sim::observe(profile);
  description.store(new std::string(text), std::memory_order_release);
  const std::string banner = "mpsprobe: SIMULATED Metal device, profile " + profile.name + " (" +
                             profile.hash + "): nothing here is evidence about Apple hardware\n";
  std::fwrite(banner.data(), 1, banner.size(), stderr);
  std::fflush(stderr);
}

__attribute__((constructor)) void start_where_preloaded() {
  const char* path = std::getenv("MPSPROBE_SIM_PROFILE");
  if (path == nullptr) return;
  char error[2048];
  if (mpsprobe_sim_start(path, error, sizeof(error)) == 0) return;
  std::fprintf(stderr, "mpsprobe: MPSPROBE_SIM_PROFILE: %s\n", error);
  std::fflush(stderr);
  _exit(3);
}

}  // namespace

MPSPROBE_SIM_EXPORT int mpsprobe_sim_start(const char* profile_json_path, char* error,
                                           size_t error_bytes) {
  std::string text;
  try {
    start(profile_json_path);
    return 0;
  } catch (const std::exception& problem) {
    text = problem.what();
  } catch (...) {
    text = "simulated Metal device: unknown failure at start";
  }
  if (error != nullptr && error_bytes > 0) std::snprintf(error, error_bytes, "%s", text.c_str());
  return 1;
}

MPSPROBE_SIM_EXPORT void mpsprobe_sim_use_pool_stream(void) {
  if (running()) sim::use_pool_stream();
}

MPSPROBE_SIM_EXPORT void mpsprobe_sim_synchronize(void) {
  if (running()) sim::synchronise();
}

MPSPROBE_SIM_EXPORT void mpsprobe_sim_synchronize_all(void) {
  if (running()) sim::synchronise_all();
}

MPSPROBE_SIM_EXPORT int mpsprobe_sim_probe(void) {
  return running() && sim::probe() ? 0 : 1;
}

MPSPROBE_SIM_EXPORT const char* mpsprobe_sim_observed_path(const char* aten_name) {
  return sim::observed_path(aten_name == nullptr ? "" : aten_name);
}

MPSPROBE_SIM_EXPORT const char* mpsprobe_sim_describe(void) {
  const std::string* text = description.load(std::memory_order_acquire);
  return text == nullptr ? R"({"simulated":false})" : text->c_str();
}
