#include "scenarios/metal/submission.h"

#include "scenarios/worker/workload.h"

namespace mpsprobe::metal {
namespace {

// Empty where the command buffer completed.
std::string error_of(id<MTLCommandBuffer> buffer) {
  const MTLCommandBufferStatus status = [buffer status];
  if (status == MTLCommandBufferStatusCompleted) return {};
  NSError* const error = [buffer error];
  NSString* const description = error == nil ? nil : [error localizedDescription];
  return "command buffer exited with error status " + std::to_string(status) + ": " +
         (description == nil ? "no error given" : [description UTF8String]);
}

}  // namespace

Submission::Submission(id<MTLCommandQueue> queue,
                       const std::function<void(MPSCommandBuffer*)>& encode) {
  buffer_ =
      Owned<MPSCommandBuffer*>::retain([MPSCommandBuffer commandBufferFromCommandQueue:queue]);
  if (!buffer_ || [buffer_.get() rootCommandBuffer] == nil) {
    throw GpuError("the command queue gave no command buffer");
  }
  const std::shared_ptr<Completions> completions = completions_;
  // Before the commit, which is the only time that Metal takes a handler.
  [[buffer_.get() rootCommandBuffer] addCompletedHandler:^(id<MTLCommandBuffer> done) {
    const std::lock_guard lock(completions->mutex);
    if (completions->error.empty()) completions->error = error_of(done);
  }];
  encode(buffer_.get());
  [buffer_.get() commit];
}

void Submission::wait() {
  [buffer_.get() waitUntilCompleted];
  std::string error = error_of([buffer_.get() rootCommandBuffer]);
  {
    const std::lock_guard lock(completions_->mutex);
    if (error.empty()) error = completions_->error;
  }
  if (!error.empty()) throw GpuError(error);
}

}  // namespace mpsprobe::metal
