#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/mlx/mlx_workload.h"

namespace mpsprobe {

/// What one thread launches and what came of it. Results are read back by the thread that asked for
/// them, as a program does, and compared after all threads have joined.
class MlxLane : public Lane {
 public:
  /// `workload` outlives the lane.
  MlxLane(MlxWorkload& workload, int thread);

  std::string operation() const override;
  void enter() override;
  void launch(int iteration) override;
  void synchronise() override;
  void leave() override;
  CheckResult check() override;

 private:
  using Results = std::vector<HostArray>;

  Arrays run(int iteration);
  Arrays run_released();
  void keep(int iteration, const Arrays& results);
  int alone_thread() const;
  std::string difference_in(const Results& results, const Results& expected) const;

  MlxWorkload& workload_;
  const int thread_;
  std::optional<MlxBelongings> own_;
  std::vector<std::pair<int, Arrays>> pending_;  ///< iteration and results that were not waited for
  uint64_t never_waited_for_ = 0;
  KeptResults<Results> kept_;
  std::vector<double> units_;  ///< of each expected result
};

}  // namespace mpsprobe
