#pragma once

#include <mlx/stream.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "harness/wire/cell.h"
#include "scenarios/comparison/kept_results.h"
#include "scenarios/mlx/mlx_operation.h"
#include "scenarios/worker/workload.h"

namespace mpsprobe {

using MlxFunction = std::function<Arrays(const Arrays&)>;

/// What a thread computes with: its stream, inputs and weights, made by whom the cell says.
struct MlxBelongings {
  ::mlx::core::Stream stream;
  Arrays inputs;
  Arrays parameters;
};

/// An operation on MLX as a cell asks for it, by MLX's public interface alone. Lanes hold a
/// reference to it: it outlives them.
class MlxWorkload : public Workload {
 public:
  /// `operation` has static storage. Throws UnsupportedError where an axis is not possible for it.
  MlxWorkload(const MlxOperation& operation, const Cell& cell, uint64_t seed);

  void touch_device() override;
  std::unique_ptr<Lane> make_lane(int thread) override;
  void settle() override {}
  std::string observed_path() override { return "not observed"; }

  // For lanes; any thread.
  const MlxOperation& operation() const { return operation_; }
  const Sizes& sizes() const { return sizes_; }
  ::mlx::core::Device device() const { return device_; }
  Owner owner() const { return owner_; }
  /// Whether the calling thread clears its streams when it leaves. The main thread, which warms up
  /// and comes after the others, does not end, and others may use the streams that it made.
  bool clears_streams() const {
    return leave_ == Leave::clear_streams && std::this_thread::get_id() != main_;
  }
  KeptBudget& kept_budget() { return kept_budget_; }
  const std::vector<HostArray>& numbers_of_inputs(int thread) const { return inputs_[thread]; }
  const std::vector<HostArray>& numbers_of_parameters(int thread) const;

  /// What the thread computes with, new: called by whom the cell says.
  MlxBelongings make_belongings(int thread);
  /// Makes the lazy arrays that all threads evaluate, once, by the thread that calls first.
  void make_shared_arrays();
  /// Those of an iteration. make_shared_arrays has returned before.
  const Arrays& shared_arrays(int iteration) const { return shared_arrays_[iteration]; }
  /// The operation's `run`, compiled once for all threads.
  Arrays run_compiled(const MlxBelongings& own);
  /// What a lane has given to async_eval, for the thread that waits beside.
  void show(const Arrays& results);
  void wait_beside() override;
  /// The first thread that came with these numbers. Main thread alone.
  int first_with(int thread, const std::vector<float>& numbers);

 private:
  ::mlx::core::Stream new_stream_or_default() const;

  const MlxOperation& operation_;
  const Sizes sizes_;
  const ::mlx::core::Device device_;
  const StreamUse stream_;
  const bool waits_beside_;
  const ModelSharing model_;
  const Owner owner_;
  const Leave leave_;
  const std::thread::id main_ = std::this_thread::get_id();
  const int launches_;  ///< of a thread, over all rounds
  KeptBudget kept_budget_{kKeptBytes};
  std::vector<std::vector<HostArray>> inputs_;      ///< by thread
  std::vector<std::vector<HostArray>> parameters_;  ///< by thread, or one for all
  std::once_flag parameters_made_;
  Arrays shared_parameters_;
  std::once_flag arrays_made_;
  std::vector<Arrays> shared_arrays_;  ///< by iteration
  std::once_flag compiled_;
  MlxFunction function_;
  std::mutex shown_mutex_;
  Arrays shown_;
  std::map<std::vector<float>, int> drawn_;  ///< which thread drew them
};

}  // namespace mpsprobe
