#pragma once

#include <string>
#include <vector>

namespace mpsprobe {

/// What NVIDIA's management library says: it answers without a CUDA context, so that asking is no
/// contact with the device under test.
struct NvidiaSystem {
  std::string driver;             ///< "580.159.04"; empty where the library does not tell
  std::vector<std::string> gpus;  ///< names of all GPUs of the machine, in its order

  /// "NVIDIA H100 80GB HBM3", "2 x NVIDIA H200"; several kinds with a comma; empty for none.
  std::string gpus_in_words() const;
};

/// Asks libnvidia-ml.so.1, which comes with the driver. An empty answer where there is none. Any
/// thread.
NvidiaSystem nvidia_system();

}  // namespace mpsprobe
