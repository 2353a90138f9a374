#include <ATen/ops/zeros.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/input/json_text.h"
#include "harness/provenance/executable.h"
#include "scenarios/backends/each_backend.h"
#include "scenarios/provenance/profile_path.h"
#include "scenarios/worker/workload.h"

// The simulated Metal device is a library of its own, which observes LibTorch's CPU code: a worker
// loads it only for a cell that asks for it, so that no other cell can be touched by it.

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

#ifdef __APPLE__
constexpr std::string_view kLibraryName = "libmpsprobe_sim.dylib";
#else
constexpr std::string_view kLibraryName = "libmpsprobe_sim.so";
#endif

/// The functions of scenarios/sim/sim.h.
struct SimLibrary {
  int (*start)(const char*, char*, size_t) = nullptr;
  void (*use_pool_stream)() = nullptr;
  void (*synchronize)() = nullptr;
  void (*synchronize_all)() = nullptr;
  int (*probe)() = nullptr;
  const char* (*observed_path)(const char*) = nullptr;
  const char* (*describe)() = nullptr;
};

fs::path sim_library_path() {
  if (const char* chosen = std::getenv("MPSPROBE_SIM_LIBRARY"); chosen != nullptr && *chosen) {
    return chosen;
  }
  return installation_folder() / "lib" / kLibraryName;
}

template <typename Function>
void find(void* library, const fs::path& path, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function == nullptr) {
    throw SetupError(
        fmt::format("{}: it has no function {}, so it is no simulated device of this version. "
                    "Build and install the worker and the library together",
                    path.string(), name));
  }
}

SimLibrary load_sim() {
  const fs::path path = sim_library_path();
  // Never closed: LibTorch keeps its callbacks until the process ends.
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    throw SetupError(
        fmt::format("{}: the simulated device cannot be loaded ({}). Build the target "
                    "mpsprobe_sim, or name the library in MPSPROBE_SIM_LIBRARY",
                    path.string(), why == nullptr ? "no reason given" : why));
  }
  SimLibrary functions;
  find(library, path, "mpsprobe_sim_start", functions.start);
  find(library, path, "mpsprobe_sim_use_pool_stream", functions.use_pool_stream);
  find(library, path, "mpsprobe_sim_synchronize", functions.synchronize);
  find(library, path, "mpsprobe_sim_synchronize_all", functions.synchronize_all);
  find(library, path, "mpsprobe_sim_probe", functions.probe);
  find(library, path, "mpsprobe_sim_observed_path", functions.observed_path);
  find(library, path, "mpsprobe_sim_describe", functions.describe);
  return functions;
}

class SimDevice : public Device {
 public:
  explicit SimDevice(const std::string& profile) {
    const std::string path = profile_path(profile);
    sim_ = load_sim();
    char error[1024] = {};
    if (sim_.start(path.c_str(), error, sizeof(error)) != 0) {
      error[sizeof(error) - 1] = '\0';
      throw SetupError(error);
    }
  }

  // Tensors are the CPU's; the device is simulated below its operations.
  at::Device torch_device() const override { return at::kCPU; }
  void touch() override {
    at::zeros({1}, at::TensorOptions().device(at::kCPU));
    synchronise();
  }
  void enter_thread(StreamUse use) override {
    if (use == StreamUse::per_thread) {
      sim_.use_pool_stream();
    }
  }
  void synchronise() override { sim_.synchronize(); }
  void settle() override { sim_.synchronize_all(); }
  at::Tensor upload(const at::Tensor& tensor) override { return tensor.clone(); }

  std::string observed_path(std::string_view aten_name) override {
    const char* const path = sim_.observed_path(std::string(aten_name).c_str());
    return path == nullptr ? std::string(kNotObserved) : path;
  }

  Probe probe(const std::function<void()>& submitted) override {
    submitted();  // the simulated queue takes it without waiting for anybody
    return sim_.probe() == 0 ? Probe::completed : Probe::failed;
  }

  nlohmann::json description() const override {
    const char* const text = sim_.describe();
    auto description = parsed_if_json(text == nullptr ? "{}" : text);
    if (!description.is_object()) {
      throw SetupError(sim_library_path().string() +
                       ": its description is no JSON object. Build and install the worker and the "
                       "library together");
    }
    description["backend"] = "sim";
    description["simulated"] = true;  // whatever the library says
    return description;
  }

 private:
  SimLibrary sim_;
};

}  // namespace

std::unique_ptr<Device> open_sim(const Cell& cell) {
  return std::make_unique<SimDevice>(cell.profile);
}

BackendReport report_sim() {
  BackendReport report{.backend = Backend::sim, .simulated = true};
  try {
    load_sim();
    report.available = true;
    report.device = "simulated Metal device";
  } catch (const SetupError& error) {
    report.reason = error.what();
  }
  return report;
}

}  // namespace mpsprobe
