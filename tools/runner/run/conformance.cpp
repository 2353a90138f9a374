#include "tools/runner/run/conformance.h"

#include <filesystem>

#include "harness/input/input_error.h"
#include "harness/platform/executable.h"
#include "tools/runner/run/run_options.h"
#include "tools/runner/workers/workers.h"

namespace mpsprobe {

namespace fs = std::filesystem;

void use_conformance(RunOptions& options) {
  if (options.matrix != "conformance") return;
  if (options.workers.size() != 1) {
    throw InputError("--matrix conformance", "holds one worker against docs/protocol.md at a time",
                     "Name it: --worker NAME=PATH");
  }
  // It says itself why it is none, and where it lies.
  const NamedWorker named = name_workers(options.workers, {}).front();
  find_workers(options.workers, options.environment);
  const fs::path checker = executable_path().parent_path() / "mpsprobe-conformance-worker";
  options.workers = {named.name + "=" + checker.string()};
  options.environment.push_back("MPSPROBE_CONFORMANCE_OF=" + fs::absolute(named.path).string());
}

}  // namespace mpsprobe
