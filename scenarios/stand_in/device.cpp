#define MPSPROBE_STAND_IN_EXPORT extern "C" __attribute__((visibility("default")))
#include "scenarios/stand_in/device.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <sstream>
#include <string>

#include "harness/input/input_error.h"
#include "scenarios/sim/defects.h"
#include "scenarios/sim/observer.h"
#include "scenarios/sim/operations.h"
#include "scenarios/sim/profile.h"
#include "scenarios/sim/start.h"
#include "scenarios/stand_in/objects.h"
#include "scenarios/stand_in/stand_in.h"

namespace mpsprobe::stand_in {
namespace {

constexpr long kOperationInfo = 1;  // LogOptions::OPERATION_INFO of ATen/mps/MPSProfiler.h

bool asked_for() {
  static const bool asked = [] {
    const char* const options = std::getenv("PYTORCH_MPS_LOG_PROFILE_INFO");
    return options != nullptr && (std::strtol(options, nullptr, 0) & kOperationInfo) != 0;
  }();
  return asked;
}

/// As OperationInfo::buildKernelString has it.
std::string key_of(const sim::Operation& operation, c10::ArrayRef<const c10::IValue> inputs) {
  std::ostringstream key;
  key << (operation.kernel == "linear" ? "mps_linear" : operation.kernel);
  for (const c10::IValue& value : inputs) {
    if (!value.isTensor() || !value.toTensor().defined()) continue;
    const at::Tensor& tensor = value.toTensor();
    key << ':' << c10::DeviceTypeName(tensor.device().type()) << ':' << tensor.scalar_type()
        << tensor.sizes();
  }
  return key.str();
}

struct Logged {
  uint64_t id = 0;
  uint64_t runs = 0;
};

/// Prints the operation to stderr where PYTORCH_MPS_LOG_PROFILE_INFO asks for it, as LibTorch's
/// MPSProfiler prints one that a graph or a kernel encodes (OperationInfo::toString of 2.15.0).
/// Of the names only linear's is LibTorch's own; the others are those of the simulated device. Any
/// thread.
void log_operation(const sim::Operation& operation, sim::EncodePath path,
                   c10::ArrayRef<const c10::IValue> inputs) {
  const bool graph = path == sim::EncodePath::graph;
  if (!asked_for() || (!graph && path != sim::EncodePath::nograph)) return;
  static std::mutex mutex;
  static std::map<std::string, Logged> graphs;
  static std::map<std::string, Logged> kernels;
  const std::string key = key_of(operation, inputs);
  const std::lock_guard lock(mutex);
  std::map<std::string, Logged>& all = graph ? graphs : kernels;
  Logged& logged = all.try_emplace(key, Logged{all.size() + 1, 0}).first->second;
  const std::string line = "aten::" + key + " (id=" + (graph ? "G" : "K") +
                           std::to_string(logged.id) + ", run=" + std::to_string(++logged.runs) +
                           ")\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

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
