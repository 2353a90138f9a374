#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "scenarios/backends/backend.h"
#include "scenarios/comparison/kept_results.h"
#include "scenarios/operations/operation.h"
#include "scenarios/worker/workload.h"

namespace mpsprobe {

/// An operation of the table on a device, as a cell asks for it. Lanes hold a reference to it: it
/// outlives them.
class TorchWorkload : public Workload {
 public:
  /// Throws UnsupportedError where shape, dtype or path are not possible for the operation.
  /// `operation` has static storage.
  TorchWorkload(const Operation& operation, const Cell& cell, uint64_t seed,
                std::unique_ptr<Device> device, int64_t kept_bytes = kKeptBytes);

  void touch_device() override;
  std::unique_ptr<Lane> make_lane(int thread) override;
  void settle() override;
  std::string observed_path() override;
  void wait_beside() override;
  Probe probe(const std::function<void()>& submitted) override { return device_->probe(submitted); }

  // For lanes.
  const Operation& operation() const { return operation_; }
  /// Of a thread's inputs. Throws UnsupportedError where its weights would need another shape too.
  Sizes sizes_for(int thread) const;
  at::ScalarType dtype() const { return dtype_; }
  WaitFor wait() const { return wait_; }
  Sync sync() const { return sync_; }
  StreamUse stream() const { return stream_; }
  Device& device() { return *device_; }
  /// Every launch is captured into a graph of its own and replayed.
  bool captures() const {
    return path_ == Path::graph && device_->path_choice() == PathChoice::capture;
  }
  KeptBudget& kept_budget() { return kept_budget_; }

  /// Parameters of a lane as the CPU has them and as the device got them. Shared ones are made by
  /// whoever comes first, while the others wait: there is only one model to make.
  struct Parameters {
    Tensors cpu;
    Tensors device;
  };
  std::shared_ptr<const Parameters> parameters_for(int thread);

 private:
  std::shared_ptr<const Parameters> make_parameters(uint64_t stream);

  const Operation& operation_;
  const Sizes sizes_;
  const Shapes shapes_;
  const at::ScalarType dtype_;
  const Path path_;
  const StreamUse stream_;
  const WaitFor wait_;
  const Sync sync_;
  const BesideThreads beside_;
  const ModelSharing model_;
  const uint64_t seed_;
  const std::unique_ptr<Device> device_;
  KeptBudget kept_budget_;
  std::once_flag shared_made_;
  std::shared_ptr<const Parameters> shared_;
};

}  // namespace mpsprobe
