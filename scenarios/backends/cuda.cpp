#include "scenarios/cuda/cuda.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string>
#include <system_error>

#include "harness/provenance/executable.h"
#include "scenarios/backends/each_backend.h"
#include "scenarios/operations/torch_errors.h"
#include "scenarios/worker/workload.h"

// LibTorch's CUDA half takes seconds to load and memory to hold. It comes with a library of its
// own, which a worker loads only for a cell that asks for it: the cells of cpu and sim run in the
// same process as without CUDA.

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

struct CudaLibrary {
  decltype(&mpsprobe_cuda_open) open = nullptr;
  decltype(&mpsprobe_cuda_report) report = nullptr;
};

fs::path cuda_library_path() {
  return installation_folder() / "lib" / "libmpsprobe_cuda.so";
}

template <typename Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

/// Throws UnsupportedError where it was not built or what it needs is not installed, SetupError
/// where it is another build's.
CudaLibrary load_cuda() {
  const fs::path path = cuda_library_path();
  std::error_code error;
  if (!fs::exists(path, error)) {
    throw UnsupportedError(
        "not built into this worker: the LibTorch that it was built with has no CUDA, or the "
        "headers of the CUDA runtime were not found");
  }
  // Never closed: LibTorch keeps what its CUDA half registers until the process ends.
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw UnsupportedError(
        fmt::format("{}: cannot be loaded: {}. LibTorch's CUDA half needs the libraries that its "
                    "wheel asks for (cuBLAS, cuDNN and others)",
                    path.string(), dlerror()));
  }
  decltype(&mpsprobe_cuda_build) build = nullptr;
  CudaLibrary found;
  find(library, "mpsprobe_cuda_build", build);
  find(library, "mpsprobe_cuda_open", found.open);
  find(library, "mpsprobe_cuda_report", found.report);
  if (build == nullptr || found.open == nullptr || found.report == nullptr ||
      std::string_view(build()) != cuda_build()) {
    throw SetupError(fmt::format(
        "{}: it is of another build than this worker ({}). Build and install both together",
        path.string(), cuda_build()));
  }
  return found;
}

}  // namespace

std::unique_ptr<Device> open_cuda(const Cell& cell) {
  try {
    return std::unique_ptr<Device>(load_cuda().open(cell));
  } catch (const UnsupportedError& error) {
    throw UnsupportedError(fmt::format("backend cuda: {}", error.what()));
  }
}

BackendReport report_cuda() {
  BackendReport report{.backend = Backend::cuda};
  try {
    with_worker_errors([&] { load_cuda().report(report); });
  } catch (const std::exception& error) {
    report.available = false;
    report.reason = error.what();
  }
  return report;
}

}  // namespace mpsprobe
