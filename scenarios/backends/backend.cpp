#include "scenarios/backends/backend.h"

#include <fmt/format.h>

#include "harness/wire/axis.h"
#include "scenarios/backends/each_backend.h"
#include "scenarios/worker/workload.h"

namespace mpsprobe {

std::vector<BackendReport> report_backends() {
  return {report_mps(), report_metal(), report_cuda(), report_cpu(), report_sim()};
}

std::unique_ptr<Device> open_device(const Cell& cell) {
  const auto absent = [&](std::string_view reason) {
    return UnsupportedError(fmt::format("backend {}: {}. `mpsprobe-worker describe` lists what is",
                                        name_of(cell.backend), reason));
  };
  switch (cell.backend) {
    case Backend::mps:
      return open_mps(cell);
    case Backend::cpu:
      return open_cpu(cell);
    case Backend::sim:
      return open_sim(cell);
    case Backend::metal:
      throw absent("its worker, mpsprobe-metal-worker, is not there");
    case Backend::mlx:
      throw absent("it has workers of its own, mpsprobe-mlx-worker");
    case Backend::cuda:
      return open_cuda(cell);
    case Backend::command:
      throw absent("it has a worker of its own, mpsprobe-command-worker");
  }
  throw absent("unknown");
}

}  // namespace mpsprobe
