#pragma once

#include <fmt/format.h>

#include <string>

#include "scenarios/backends/backend.h"

#if __has_include(<torch/headeronly/version.h>)
#include <torch/headeronly/version.h>
#else
#include <torch/csrc/api/include/torch/version.h>
#endif

// What libmpsprobe_cuda.so exports. The worker and the library share C++ types and are built
// together; that they were is checked before anything else is called.

namespace mpsprobe {

/// Names the build of worker or library that it is compiled into.
inline std::string cuda_build() {
  return fmt::format("mpsprobe {} for LibTorch {}.{}.{}", MPSPROBE_VERSION, TORCH_VERSION_MAJOR,
                     TORCH_VERSION_MINOR, TORCH_VERSION_PATCH);
}

}  // namespace mpsprobe

extern "C" {

/// cuda_build() of the library. Static storage.
const char* mpsprobe_cuda_build();

/// See open_device (backend.h); the caller owns the result. Throws what open_device does.
mpsprobe::Device* mpsprobe_cuda_open(const mpsprobe::Cell& cell);

/// See report_backends (backend.h). Throws what LibTorch throws.
void mpsprobe_cuda_report(mpsprobe::BackendReport& report);
}
