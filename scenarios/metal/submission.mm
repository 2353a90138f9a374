#include "scenarios/metal/submission.h"

#include <utility>

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

Submission::Submission(id<MTLCommandQueue> queue)
    : buffer_(Owned<MPSCommandBuffer*>::retain(
          [MPSCommandBuffer commandBufferFromCommandQueue:queue])) {
  if (!buffer_ || [buffer_.get() rootCommandBuffer] == nil) {
    throw GpuError("the command queue gave no command buffer");
  }
  note_root();
}

Submission::~Submission() {
  if (!encoder_) return;
  const Pool pool;
  end_encoder();
}

MPSCommandBuffer* Submission::commands() {
  end_encoder();
  return buffer_.get();
}

id<MTLComputeCommandEncoder> Submission::encoder() {
  if (!encoder_) {
    encoder_ = Owned<id<MTLComputeCommandEncoder>>::retain([buffer_.get() computeCommandEncoder]);
    if (!encoder_) throw GpuError("the command buffer gave no encoder");
  }
  return encoder_.get();
}

void Submission::commit() {
  end_encoder();
  [buffer_.get() commit];
}

std::string Submission::wait() {
  std::string first;
  for (const Owned<id<MTLCommandBuffer>>& root : roots_) {
    [root.get() waitUntilCompleted];
    const std::string error = error_of(root.get());
    if (first.empty()) first = error;
  }
  return first;
}

// An encoder that is released without that ends the process.
void Submission::end_encoder() {
  if (!encoder_) return;
  const Owned<id<MTLComputeCommandEncoder>> ended = std::move(encoder_);
  [ended.get() endEncoding];
}

void Submission::note_root() {
  id<MTLCommandBuffer> const root = [buffer_.get() rootCommandBuffer];
  if (roots_.empty() || roots_.back().get() != root) {
    roots_.push_back(Owned<id<MTLCommandBuffer>>::retain(root));
  }
}

}  // namespace mpsprobe::metal
