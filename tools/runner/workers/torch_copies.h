#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/provenance/installed_torch.h"

namespace mpsprobe {

/// A LibTorch on this machine that the loader could find for a worker, or that its user may mean.
struct TorchCopy {
  std::string library;    ///< path of its libtorch_cpu, links resolved
  std::string origin;     ///< what leads there: "LD_LIBRARY_PATH", "MPSPROBE_TORCH", "python3" ...
  bool searched = false;  ///< by the loader, for this worker
  bool linked = false;    ///< by the run path: what the worker was built against
  InstalledTorch files;
};

/// Where a worker gets its LibTorch from, and where else there is one. In the loader's order; those
/// that only the user may mean come last. `environment` is the worker's (K=V); `worker` the path of
/// its program. Python's copies are found by looking at folders: no Python is started.
std::vector<TorchCopy> torch_copies(const std::string& worker,
                                    const std::vector<std::string>& environment);

/// A copy that is loaded in place of the one that the worker was built against.
struct Shadowing {
  std::string loaded;  ///< path of its libtorch_cpu
  std::string origin;  ///< what leads there; empty where none of `copies` does
  TorchCopy shadowed;
  bool same_bytes = false;  ///< as far as the fingerprints say
};

/// Whether another copy than the linked one is loaded. `loaded` is what the worker says it has
/// loaded; where that is empty (it could not even answer), the first one that the loader finds.
std::optional<Shadowing> find_shadowing(const std::string& loaded,
                                        const std::vector<TorchCopy>& copies);

/// "A (by LD_LIBRARY_PATH) is loaded in place of B (LibTorch 2.15.0), which the worker was built
/// against"
std::string in_words(const Shadowing& shadowing);

/// What to do about it.
std::string remedy_for(const Shadowing& shadowing);

}  // namespace mpsprobe
