#include "scenarios/sim/sim.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>

#include "harness/input/input_error.h"
#include "scenarios/sim/defects.h"
#include "scenarios/sim/observer.h"
#include "scenarios/sim/profile.h"
#include "scenarios/sim/start.h"

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
  const std::string text = sim::description_of(profile);
  std::lock_guard lock(start_mutex);
  if (running()) {
    if (*description.load() == text) return;
    throw InputError(path, "the simulated device runs already with " + *description.load(),
                     "Use one profile per process");
  }
  sim::observe(profile, c10::kCPU);
  description.store(new std::string(text), std::memory_order_release);
  sim::say_simulated(profile);
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
  return sim::start_for_c([&] { start(profile_json_path); }, error, error_bytes);
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
