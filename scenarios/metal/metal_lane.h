#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/metal/shared_objects.h"
#include "scenarios/metal/submission.h"
#include "scenarios/worker/workload.h"

namespace mpsprobe::metal {

/// What one thread launches and what came of it. A launch makes buffers for its results and adds to
/// the submission that is open, as LibTorch's stream does until somebody waits for it. The results
/// are kept for the comparison.
class MetalLane : public Lane {
 public:
  /// `shared` outlives the lane.
  MetalLane(SharedObjects& shared, int thread);

  std::string operation() const override { return std::string(shared_.operation().name); }
  void launch(int iteration) override;
  void synchronise() override;
  void leave() override;
  CheckResult check() override;

 private:
  using Results = std::vector<Buffer>;

  void encode(size_t step, const std::vector<Buffer>& values);
  void commit_open();
  void wait_for_all();

  SharedObjects& shared_;
  Owned<id<MTLCommandQueue>> queue_;
  Kernels kernels_;
  Uploaded inputs_;
  std::shared_ptr<const Uploaded> parameters_;
  std::optional<Submission> open_;       // not committed
  std::vector<Submission> submissions_;  // committed and not waited for
  bool device_failed_ = false;           // what results hold is undefined
  KeptResults<Results> kept_;
};

}  // namespace mpsprobe::metal
