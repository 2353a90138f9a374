#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "scenarios/comparison/kept_results.h"
#include "scenarios/operations/torch_workload.h"

namespace mpsprobe {

/// What one thread launches and what came of it. Keeps results, and so keeps their memory from
/// being used again; intermediate tensors of a launch are freed as they would be without a harness.
class TorchLane : public Lane {
 public:
  /// Makes the thread's inputs and takes its parameters; waits until the device has them.
  TorchLane(TorchWorkload& workload, int thread, uint64_t seed);

  std::string operation() const override;
  void enter() override;
  void launch(int iteration) override;
  void synchronise() override;
  CheckResult check() override;

 private:
  at::TensorOptions options() const;
  Tensors run(const Tensors& inputs, const Tensors& parameters, at::TensorOptions options) const;
  Tensors reference() const;
  /// Of what was read back, into `result`.
  void check_read_back(const Tensors& expected, CheckResult& result) const;
  std::string difference_in(const Tensors& results, const Tensors& expected) const;

  TorchWorkload& workload_;
  const int thread_;
  const Sizes sizes_;
  Tensors cpu_inputs_;
  Tensors inputs_;
  std::shared_ptr<const TorchWorkload::Parameters> parameters_;
  at::Tensor last_;  ///< of the last launch: what wait=item reads
  int last_iteration_ = -1;
  /// A number that was read back, and the iteration whose it is.
  struct ReadBack {
    int iteration = 0;
    at::Scalar number;
  };
  std::vector<ReadBack> read_back_;
  KeptResults<Tensors> kept_;
};

}  // namespace mpsprobe
