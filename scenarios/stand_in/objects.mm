// A stream's calls of Metal, made through Apple's classes: what an extension of PyTorch's is handed
// here are objects, as on a Mac. This library goes into a program besides the stand-in.
#import <Metal/Metal.h>
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include "scenarios/stand_in/objects.h"

#include "scenarios/sim/face/objects.h"

namespace mpsprobe::stand_in {
namespace {

class Objects final : public sim::Recorder {
 public:
  Objects() : device_(MTLCreateSystemDefaultDevice()), queue_([device_ newCommandQueue]) {}

  sim::metal::CommandQueue& queue() override { return *((SimulatedQueue*)queue_)->queue_; }

  std::shared_ptr<sim::metal::CommandBuffer> begin() override {
    @autoreleasepool {
      buffer_ = [[MPSCommandBuffer commandBufferFromCommandQueue:queue_] retain];
      return root().buffer;
    }
  }

  sim::metal::Encoder& open(sim::metal::EncoderKind kind) override {
    @autoreleasepool {
      root();
      id encoder = nil;
      if (kind == sim::metal::EncoderKind::blit) {
        encoder = [buffer_ blitCommandEncoder];
      } else {
        encoder = [buffer_ computeCommandEncoder];
      }
      encoder_ = [encoder retain];
      return *((SimulatedEncoder*)encoder_)->encoder_;
    }
  }

  void end() override {
    @autoreleasepool {
      [encoder_ endEncoding];
      [encoder_ release];
      encoder_ = nil;
    }
  }

  void commit() override {
    @autoreleasepool {
      [buffer_ commit];
      [buffer_ waitUntilCompleted];
      [buffer_ release];
      buffer_ = nil;
    }
  }

  void* handed(Part part) override {
    switch (part) {
      case Part::device:
        return device_;
      case Part::queue:
        return queue_;
      case Part::buffer:
        return buffer_;
      case Part::encoder:
        return encoder_;
    }
    return nullptr;
  }

 private:
  /// Of the command buffer as it is now: MPSGraph may have gone on in another one. The stream's
  /// queue lets in one thread at a time, whichever.
  sim::face::Recording& root() {
    sim::face::Recording& root =
        *((SimulatedCommandBuffer*)[buffer_ rootCommandBuffer])->recording_;
    root.owner = std::thread::id();
    return root;
  }

  id<MTLDevice> device_;
  id<MTLCommandQueue> queue_;
  MPSCommandBuffer* buffer_ = nil;
  id<MTLCommandEncoder> encoder_ = nil;
};

__attribute__((constructor)) void stand_in_for_streams() {
  mpsprobe_stand_in_record_with(
      []() -> std::unique_ptr<sim::Recorder> { return std::make_unique<Objects>(); });
}

}  // namespace
}  // namespace mpsprobe::stand_in
