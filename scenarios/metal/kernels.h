#pragma once

#import <Metal/Metal.h>
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include <memory>
#include <span>

#include "scenarios/metal/recipe.h"
#include "scenarios/metal/submission.h"
#include "scenarios/objective_c/owned.h"

namespace mpsprobe::metal {

using Buffer = Owned<id<MTLBuffer>>;

/// What encodes one step of a recipe: a kernel of kernels.metal, an MPS kernel or an MPSGraph. Made
/// once and encoded again and again, as LibTorch's caches of kernels and graphs do.
class StepKernel {
 public:
  virtual ~StepKernel() = default;
  /// Appends the step to what the calling thread has begun and not committed. `sources` and
  /// `result` hold the values in float32 without gaps, and stay alive until the command buffer has
  /// completed: it retains what its commands use.
  virtual void encode(Submission& submission, std::span<const Buffer> sources,
                      const Buffer& result) = 0;
};

/// Whether a kernel of kernels.metal does it, and no graph or MPS kernel.
bool takes_own_kernel(StepKind kind);

/// The kernel of a step; `graph`: products and linear by a graph. `seed` is for a step that draws
/// numbers. Throws where the framework gives no object.
std::unique_ptr<StepKernel> make_kernel(id<MTLDevice> device, const Recipe& recipe, size_t step,
                                        bool graph, uint64_t seed);

}  // namespace mpsprobe::metal
