#include "scenarios/backends/mps_machine.h"

#include <dlfcn.h>

#include <nlohmann/json.hpp>
#include <string>

#include "harness/provenance/executable.h"
#include "scenarios/provenance/profile_path.h"
#include "scenarios/stand_in/stand_in.h"
#include "scenarios/worker/workload.h"

namespace mpsprobe {

namespace {

/// From here on the streams' objects are of Objective-C, and Metal's functions are found.
void load_objects() {
  const std::string path =
      (installation_folder() / "lib" / "libmpsprobe_stand_in_objects.so").string();
  if (dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) return;
  throw UnsupportedError(std::string("observe: ") + dlerror() +
                         ". What the observer watches is built where clang and GNUstep are: run "
                         "cmake again and read what it says of the backend metal");
}

}  // namespace

bool mps_is_simulated() {
  return true;
}

void prepare_mps(const Cell& cell) {
  if (cell.beside > BesideThreads::event) {
    throw UnsupportedError(
        "beside: the stand-in for PyTorch's backend has no cache, statistics or profiler to call. "
        "PyTorch's own code has them (docs/mps.md)");
  }
  char error[1024] = {};
  if (mpsprobe_stand_in_start(profile_path(cell.profile).c_str(), error, sizeof(error)) != 0) {
    throw SetupError(error);
  }
  if (cell.observe != Observe::none) load_objects();
}

nlohmann::json describe_mps() {
  return nlohmann::json::parse(mpsprobe_stand_in_describe());
}

}  // namespace mpsprobe
