// Programs of one thread with an extension of PyTorch's, in LibTorch on the stand-in for its
// device: `torch_extension CASE`.
#include <dispatch/dispatch.h>

#include <ATen/ATen.h>
#include <ATen/mps/MPSStream.h>
#include <torch/csrc/api/include/torch/mps.h>

#include <cstdio>
#include <cstring>

namespace {

at::mps::MPSStream& stream() { return *at::mps::getCurrentMPSStream(); }

// A kernel of LibTorch's, which leaves the stream's encoder open.
void run_operation() {
  at::abs(at::ones({4}, at::TensorOptions().device(at::Device(at::kMPS, 0))));
}

id<MTLBuffer> new_bytes() {
  static id<MTLDevice> const device = MTLCreateSystemDefaultDevice();
  return [[device newBufferWithLength:64 options:MTLResourceStorageModeShared] autorelease];
}

void fill_with_own_encoder(id<MTLCommandBuffer> commands) {
  id<MTLBlitCommandEncoder> const encoder = [commands blitCommandEncoder];
  [encoder fillBuffer:new_bytes() range:NSMakeRange(0, 64) value:1];
  [encoder endEncoding];
}

// What was encoded by PyTorch is still open: Metal ends the process.
void while_torchs_is_open() {
  run_operation();
  dispatch_sync(stream().queue(), ^{
    fill_with_own_encoder(stream().commandBuffer());
  });
}

// Nothing is open after a synchronisation, and so Metal lets it pass: until another thread calls.
void after_synchronize_off_the_queue() {
  run_operation();
  torch::mps::synchronize();
  fill_with_own_encoder(torch::mps::get_command_buffer());
}

void kept_across_synchronize() {
  run_operation();
  id<MTLCommandBuffer> const kept = [[torch::mps::get_command_buffer() retain] autorelease];
  torch::mps::synchronize();
  dispatch_sync(torch::mps::get_dispatch_queue(), ^{
    fill_with_own_encoder(kept);
  });
}

// As it should be, but for an encoder that works because PyTorch's happens to be ended.
void own_encoder_on_the_queue() {
  run_operation();
  dispatch_sync(stream().queue(), ^{
    stream().endKernelCoalescing();
    fill_with_own_encoder(stream().commandBuffer());
  });
}

void with_torchs_encoder() {
  run_operation();
  dispatch_sync(stream().queue(), ^{
    [stream().commandEncoder() setBuffer:new_bytes() offset:0 atIndex:0];
  });
}

constexpr struct {
  const char* name;
  void (*run)();
} kCases[] = {
    {"second-encoder", while_torchs_is_open},     {"off-queue", after_synchronize_off_the_queue},
    {"borrowed-buffer", kept_across_synchronize}, {"own-encoder", own_encoder_on_the_queue},
    {"torchs-encoder", with_torchs_encoder},
};

}  // namespace

int main(int argc, char** argv) {
  for (const auto& each : kCases) {
    if (argc != 2 || std::strcmp(argv[1], each.name) != 0) continue;
    @autoreleasepool {
      each.run();
      torch::mps::synchronize();
    }
    return 0;
  }
  std::fprintf(stderr, "usage: torch_extension CASE, one of:\n");
  for (const auto& each : kCases) std::fprintf(stderr, "  %s\n", each.name);
  return 2;
}
