#include "scenarios/cuda/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>

namespace mpsprobe {
namespace {

// The functions that are asked, as nvml.h declares them in its stable interface: 0 is success, a
// device is an opaque pointer, texts are cut at the length given. Found at run time, for nothing of
// it is there at build time on a machine without a GPU.
struct Nvml {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*device_count)(unsigned*) = nullptr;
  int (*device)(unsigned, void**) = nullptr;
  int (*device_name)(void*, char*, unsigned) = nullptr;

  bool complete() const {
    return init != nullptr && shutdown != nullptr && driver_version != nullptr &&
           device_count != nullptr && device != nullptr && device_name != nullptr;
  }
};

template <typename Function>
void find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
}

Nvml load() {
  Nvml nvml;
  void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return nvml;
  }
  find(library, "nvmlInit_v2", nvml.init);
  find(library, "nvmlShutdown", nvml.shutdown);
  find(library, "nvmlSystemGetDriverVersion", nvml.driver_version);
  find(library, "nvmlDeviceGetCount_v2", nvml.device_count);
  find(library, "nvmlDeviceGetHandleByIndex_v2", nvml.device);
  find(library, "nvmlDeviceGetName", nvml.device_name);
  return nvml;
}

}  // namespace

std::string NvidiaSystem::gpus_in_words() const {
  std::string words;
  for (size_t i = 0; i < gpus.size(); ++i) {
    if (std::find(gpus.begin(), gpus.begin() + static_cast<std::ptrdiff_t>(i), gpus[i]) !=
        gpus.begin() + static_cast<std::ptrdiff_t>(i)) {
      continue;  // counted with the first of its kind
    }
    const auto count = std::count(gpus.begin(), gpus.end(), gpus[i]);
    words += words.empty() ? "" : ", ";
    words += count == 1 ? gpus[i] : fmt::format("{} x {}", count, gpus[i]);
  }
  return words;
}

NvidiaSystem nvidia_system() {
  NvidiaSystem system;
  const Nvml nvml = load();
  if (!nvml.complete() || nvml.init() != 0) {
    return system;
  }
  char text[128] = {};
  if (nvml.driver_version(text, sizeof(text) - 1) == 0) {
    system.driver = text;
  }
  unsigned count = 0;
  if (nvml.device_count(&count) == 0) {
    for (unsigned i = 0; i < count; ++i) {
      void* device = nullptr;
      char name[128] = {};
      if (nvml.device(i, &device) == 0 && nvml.device_name(device, name, sizeof(name) - 1) == 0) {
        system.gpus.emplace_back(name);
      }
    }
  }
  nvml.shutdown();
  return system;
}

}  // namespace mpsprobe
