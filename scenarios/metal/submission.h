#pragma once

#import <Metal/Metal.h>
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include <functional>
#include <string>
#include <vector>

#include "scenarios/objective_c/owned.h"

namespace mpsprobe::metal {

/// What one launch hands to the device, from its making to its end, by one thread throughout: Apple
/// lets one thread at a time use a command buffer, and this keeps to one altogether.
///
/// It begins as one command buffer of the queue, which retains what its commands use. MPSGraph may
/// commit that while it encodes and go on in another one, so all that were seen between two steps
/// are waited for and looked at. Of several in a single step only the last is seen.
class Submission {
 public:
  /// Throws GpuError where the queue gives no command buffer.
  explicit Submission(id<MTLCommandQueue> queue);

  /// Has `encode` add one step. Not after commit().
  void add(const std::function<void(MPSCommandBuffer*)>& encode);
  /// Hands over what was added. Once. Without it, what MPSGraph has not committed is dropped.
  void commit();
  /// Waits until the device is done with all of it, and returns the first error that a command
  /// buffer ended with; empty where all completed. After commit().
  std::string wait();

 private:
  void note_root();

  Owned<MPSCommandBuffer*> buffer_;
  std::vector<Owned<id<MTLCommandBuffer>>> roots_;
};

}  // namespace mpsprobe::metal
