#pragma once

#import <Metal/Metal.h>
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include <string>
#include <vector>

#include "scenarios/objective_c/owned.h"

namespace mpsprobe::metal {

/// What a thread hands to the device at once, from its making to its end, by one thread throughout:
/// Apple lets one thread at a time use a command buffer, and this keeps to one altogether.
///
/// It begins as one command buffer of the queue, which retains what its commands use. MPSGraph may
/// commit that while it encodes and go on in another one, so all that were seen between two steps
/// are waited for and looked at. Of several in a single step only the last is seen.
class Submission {
 public:
  /// Throws GpuError where the queue gives no command buffer.
  explicit Submission(id<MTLCommandQueue> queue);
  Submission(Submission&&) = default;
  Submission& operator=(Submission&&) = default;
  /// Ends the encoder where it is open. What was not committed is dropped.
  ~Submission();

  /// For what opens encoders of its own, as MPSGraph does: one encoder at a time is open on a
  /// command buffer, so the one below is ended. Not after commit().
  MPSCommandBuffer* commands();
  /// The encoder for kernels, which stays open from one to the next, as that of LibTorch's streams
  /// does. Valid until the next call of another function of this. Throws GpuError where the command
  /// buffer gives none. Not after commit().
  id<MTLComputeCommandEncoder> encoder();
  /// The command buffer that encoder() belongs to.
  MPSCommandBuffer* encoded() { return buffer_.get(); }

  /// After each step.
  void note_root();
  /// Hands over what was added. Once. Without it, what MPSGraph has not committed is dropped.
  void commit();
  /// Waits until the device is done with all of it, and returns the first error that a command
  /// buffer ended with; empty where all completed. After commit().
  std::string wait();

 private:
  void end_encoder();

  Owned<MPSCommandBuffer*> buffer_;
  Owned<id<MTLComputeCommandEncoder>> encoder_;  // where one is open
  std::vector<Owned<id<MTLCommandBuffer>>> roots_;
};

}  // namespace mpsprobe::metal
