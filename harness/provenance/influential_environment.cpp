#include "harness/provenance/influential_environment.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/input/json_text.h"

extern char** environ;

namespace mpsprobe {
namespace {

constexpr std::string_view kPrefixes[] = {
    "PYTORCH_",     "TORCH_",    "ATEN_",    // LibTorch
    "MLX_",                                  //
    "MPS_",         "MTL_",      "METAL_",   // MPS and Metal, the validation layers among them
    "AGX_",         "GPU_",                  // Apple's driver
    "OMP_",         "KMP_",      "GOMP_",    // threads of the CPU's kernels
    "MKL_",         "OPENBLAS_", "VECLIB_",  //
    "CUDA_",        "CUBLAS_",   "CUDNN_",   //
    "DYLD_",        "LD_",                   // which libraries are loaded at all
    "Malloc",       "MALLOC_",               // allocators that check, fill or guard
    "OBJC_",        "NSZombie",              //
    "PYTHON",                                // the interpreter: PYTHON_GIL, PYTHONMALLOC
    "MPSPROBE_SIM_"  // which simulation; what else is the runner's own differs by the trial
};
constexpr std::string_view kNames[] = {
    "GLIBC_TUNABLES", "NSDeallocateZombies", "ASAN_OPTIONS",     "TSAN_OPTIONS",
    "UBSAN_OPTIONS",  "OS_ACTIVITY_MODE",    "MPSPROBE_PROFILES"};

}  // namespace

bool changes_results(std::string_view variable) {
  // Only where a text goes, and every worker on macOS has it.
  if (variable == "MallocDebugReport") return false;
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](std::string_view prefix) { return variable.starts_with(prefix); }) ||
         std::find(std::begin(kNames), std::end(kNames), variable) != std::end(kNames);
}

nlohmann::json environment_in_force() {
  nlohmann::json result = nlohmann::json::object();
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view entry = *at;
    const size_t equals = entry.find('=');
    if (equals == std::string_view::npos) {
      continue;
    }
    const std::string_view name = entry.substr(0, equals);
    if (changes_results(name)) {
      result[valid_utf8(name)] = valid_utf8(entry.substr(equals + 1));
    }
  }
  return result;
}

}  // namespace mpsprobe
