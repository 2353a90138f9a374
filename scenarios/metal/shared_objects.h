#pragma once

#import <Metal/Metal.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "harness/wire/cell.h"
#include "scenarios/comparison/kept_results.h"
#include "scenarios/metal/kernels.h"
#include "scenarios/metal/recipe.h"
#include "scenarios/metal/reference.h"
#include "scenarios/objective_c/owned.h"

namespace mpsprobe::metal {

/// Numbers as the CPU has them and as the device got them.
struct Uploaded {
  std::vector<Numbers> numbers;
  std::vector<Buffer> buffers;
};

/// One kernel for each step. Apple asks that one thread at a time operates on an MPSKernel
/// (MPSKernel.h), so each lane has its own.
using Kernels = std::vector<std::unique_ptr<StepKernel>>;

/// The device and what the lanes of a cell have of it: each its own, or all the same, as the cell
/// says. What is shared is made by whoever comes first, while the others wait. Any thread.
/// Functions throw GpuError or OutOfMemoryError where Metal gives nothing.
class SharedObjects {
 public:
  /// `graph`: products and linear go by a graph. `operation` has static storage.
  SharedObjects(const MetalOperation& operation, const Cell& cell, uint64_t seed, bool graph);

  const MetalOperation& operation() const { return operation_; }
  const Recipe& recipe() const { return recipe_; }
  bool takes_graph() const { return graph_; }
  KeptBudget& kept_budget() { return kept_budget_; }

  /// Made at the first call, which is the process's first contact with it. Throws UnsupportedError
  /// where there is none.
  id<MTLDevice> device();
  Owned<id<MTLCommandQueue>> new_queue();
  /// Sized in bytes; with contents where `contents` is no null pointer, which the CPU may read.
  Buffer new_buffer(const void* contents, size_t bytes);

  /// For the lane of a thread.
  Owned<id<MTLCommandQueue>> queue_for_lane();
  Kernels kernels_for_lane(int thread);
  std::shared_ptr<const Uploaded> parameters_for_lane(int thread);
  Uploaded inputs_for_lane(int thread);

 private:
  Uploaded upload(std::vector<Numbers> numbers);

  const MetalOperation& operation_;
  const Cell cell_;
  const uint64_t seed_;
  const bool graph_;
  const Recipe recipe_;
  KeptBudget kept_budget_{kKeptBytes};
  std::once_flag device_made_;
  Owned<id<MTLDevice>> device_;
  std::once_flag queue_made_;
  Owned<id<MTLCommandQueue>> queue_;
  std::once_flag parameters_made_;
  std::shared_ptr<const Uploaded> parameters_;
};

}  // namespace mpsprobe::metal
