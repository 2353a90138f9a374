#include "scenarios/stand_in/device.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "harness/input/input_error.h"
#include "scenarios/sim/defects.h"
#include "scenarios/sim/observer.h"
#include "scenarios/sim/profile.h"
#include "scenarios/sim/start.h"
#include "scenarios/stand_in/objects.h"
#include "scenarios/stand_in/profile_log.h"
#include "scenarios/stand_in/stand_in.h"

#define MPSPROBE_STAND_IN_EXPORT extern "C" __attribute__((visibility("default")))

namespace mpsprobe::stand_in {
namespace {

std::mutex start_mutex;
// Null until it runs. Never freed: callers keep pointers.
std::atomic<const std::string*> running = nullptr;

void run(const sim::Profile& profile, const char* place) {
  const std::string text = sim::description_of(profile);
  const std::lock_guard lock(start_mutex);
  if (const std::string* const other = running.load(); other != nullptr) {
    if (*other == text || place == nullptr) return;
    throw InputError(place, "the stand-in runs already with " + *other,
                     "Use one profile per process, and give it before the device is touched");
  }
  sim::observe(profile, c10::kMPS, log_operation);
  running.store(new std::string(text), std::memory_order_release);
  sim::say_simulated(profile);
}

// Whoever needs a device gets one: where no profile was given, one that breaks nothing.
void run_something() {
  if (running.load(std::memory_order_acquire) != nullptr) return;
  run(sim::parse_profile(
          R"({"mpsprobe_profile": 1, "name": "no-defects", "description": "None was given.",
                            "streams": "shared", "defects": []})",
          "the stand-in's own profile"),
      nullptr);
}

__attribute__((constructor(65535))) void start_where_asked() {
  const char* const path = std::getenv("MPSPROBE_SIM_PROFILE");
  if (path == nullptr) return;
  char error[2048];
  if (mpsprobe_stand_in_start(path, error, sizeof(error)) == 0) return;
  std::fprintf(stderr, "mpsprobe: MPSPROBE_SIM_PROFILE: %s\n", error);
  std::fflush(stderr);
  _exit(3);
}

}  // namespace

void start(const char* profile_path) {
  run(sim::load_profile(profile_path), profile_path);
}

const std::string& description() {
  run_something();
  return *running.load(std::memory_order_acquire);
}

sim::metal::Device& device() {
  run_something();
  return sim::simulated_device();
}

sim::StreamPool& streams() {
  run_something();
  return sim::simulated_streams();
}

}  // namespace mpsprobe::stand_in

MPSPROBE_STAND_IN_EXPORT int mpsprobe_stand_in_start(const char* profile_json_path, char* error,
                                                     size_t error_bytes) {
  return mpsprobe::sim::start_for_c([&] { mpsprobe::stand_in::start(profile_json_path); }, error,
                                    error_bytes);
}

MPSPROBE_STAND_IN_EXPORT const char* mpsprobe_stand_in_describe(void) {
  return mpsprobe::stand_in::description().c_str();
}

MPSPROBE_STAND_IN_EXPORT void mpsprobe_stand_in_record_with(mpsprobe::sim::MakeRecorder make) {
  mpsprobe::sim::record_with(make);
}

MPSPROBE_STAND_IN_EXPORT int mpsprobe_stand_in_probe(void) {
  mpsprobe::stand_in::device();
  return mpsprobe::sim::probe() ? 0 : 1;
}
