#pragma once

#import <Metal/Metal.h>
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "scenarios/metal/objective_c.h"

namespace mpsprobe::metal {

/// One command buffer from its making to its end, by one thread throughout: Apple lets one thread
/// at a time use a command buffer, and this keeps to one altogether. Whatever ends it with an error
/// is told; what MPSGraph may have committed in between is looked at as well.
class Submission {
 public:
  /// Makes a command buffer of the queue, has `encode` fill it, and commits it. If `encode` throws,
  /// the command buffer is dropped and never committed. Throws what `encode` throws, and GpuError
  /// where the queue gives no command buffer.
  Submission(id<MTLCommandQueue> queue, const std::function<void(MPSCommandBuffer*)>& encode);

  /// Waits until the device is done. Throws GpuError where it ended with an error. Once.
  void wait();

 private:
  /// What the completed handlers have to say, which Metal may call on a thread of its own.
  struct Completions {
    std::mutex mutex;
    std::string error;
  };

  std::shared_ptr<Completions> completions_ = std::make_shared<Completions>();
  Owned<MPSCommandBuffer*> buffer_;
};

}  // namespace mpsprobe::metal
