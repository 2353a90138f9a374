#include "scenarios/backends/mps_machine.h"

#include <nlohmann/json.hpp>

#include "scenarios/provenance/profile_path.h"
#include "scenarios/sim/face/face.h"
#include "scenarios/worker/workload.h"

// The backend mps on PyTorch's own code over the simulated Metal.

#ifdef MPSPROBE_SANITIZED
/// What is not compiled for ThreadSanitizer and synchronises by atomics of its own: LibTorch's
/// registries of hooks, and all that Foundation and the Objective-C runtime do to their objects.
extern "C" const char* __tsan_default_suppressions() {
  return "race:c10::Registerer\nrace:at::detail::getMPSHooks\n"
         "called_from_lib:libgnustep-base.so\ncalled_from_lib:libobjc.so\n";
}
#endif

namespace mpsprobe {

bool mps_is_simulated() {
  return true;
}

// The default profile plants defects, which stand for what PyTorch's code is here itself: it means
// none.
void prepare_mps(const Cell& cell) {
  if (cell.profile == Cell{}.profile) return;
  char error[1024] = {};
  if (mpsprobe_metal_face_start(profile_path(cell.profile).c_str(), error, sizeof(error)) != 0) {
    throw SetupError(error);
  }
}

nlohmann::json describe_mps() {
  auto description = nlohmann::json::parse(mpsprobe_metal_face_describe());
  description["device"] = "PyTorch's own MPS code " MPSPROBE_OWN_MPS " over a simulated Metal";
  return description;
}

}  // namespace mpsprobe
