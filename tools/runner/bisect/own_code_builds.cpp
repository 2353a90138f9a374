#include "tools/runner/bisect/own_code_builds.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/input/input_error.h"
#include "reports/words/safe_text.h"
#include "tools/runner/bisect/build_trials.h"
#include "tools/runner/machine_error.h"
#include "tools/runner/run/own_code.h"
#include "tools/runner/say.h"
#include "tools/runner/workers/workers.h"

namespace mpsprobe {
namespace {

constexpr int kUsualThreads = 4;

std::string cell_of(const WorkerInfo& worker, int threads) {
  const Operations operations = operations_of({worker});
  if (operations.size() != 1) {
    std::string names;
    for (const auto& each : operations) names += (names.empty() ? "" : ", ") + each.first;
    throw InputError("bisect",
                     fmt::format("the code is {} functions or tests: {}", operations.size(),
                                 shortened(printable(names), 300)),
                     "Name one of them, or a cell");
  }
  const std::string backend = worker.describe.at("backends").at(0).at("name");
  return fmt::format("{}/{}/default/threads={}", backend, operations.begin()->first, threads);
}

}  // namespace

std::string with_environment(const std::string& make) {
  for (const std::string_view pip : {"pip install ", "uv pip install "}) {
    if (!make.starts_with(pip)) continue;
    return shell_quoted(python_worker()) + " environment " + make.substr(pip.size());
  }
  return make;
}

std::string own_code_cell(BisectRequest& request) {
  std::string why;
  const BisectOptions& options = request.options;
  for (auto build = request.builds.rbegin(); build != request.builds.rend(); ++build) {
    try {
      if (build->path.empty()) build->path = make_worker(options.make, build->name);
      const WorkerInfo worker = ask_worker({build->name, build->path}, options.environment);
      return cell_of(worker, options.threads.value_or(kUsualThreads));
    } catch (const UnusableBuild& unusable) {
      why = unusable.what();
    } catch (const MachineError& failed) {
      why = failed.what();
    }
    say(stderr, "mpsprobe: {}: {}\n", build->name, printable(why));
  }
  throw InputError("bisect", "no build can run the code: " + shortened(printable(why), 300),
                   options.make.empty() ? "Name workers, or add --make 'pip install mlx=={}'"
                                        : "Look at --make, or name a cell");
}

}  // namespace mpsprobe
