// An extension of PyTorch's: operations that encode for themselves, in five ways. Written as an
// author of one would, for a Mac; runs over a simulated Metal besides (docs/mps.md).
#include <dispatch/dispatch.h>

#include <ATen/ATen.h>
#include <ATen/mps/MPSStream.h>
#include <torch/csrc/api/include/torch/mps.h>
#include <torch/library.h>

namespace {

at::mps::MPSStream& stream() { return *at::mps::getCurrentMPSStream(); }

// A kernel of LibTorch's, which leaves the stream's encoder open.
at::Tensor run_operation(const at::Tensor& input) { return at::tanh(input); }

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
at::Tensor while_torchs_is_open(const at::Tensor& input) {
  const at::Tensor result = run_operation(input);
  dispatch_sync(stream().queue(), ^{
    fill_with_own_encoder(stream().commandBuffer());
  });
  return result;
}

// The same by the function for extensions, where it does not end PyTorch's encoder
// (pytorch#163721).
at::Tensor in_torchs_command_buffer(const at::Tensor& input) {
  const at::Tensor result = run_operation(input);
  dispatch_sync(torch::mps::get_dispatch_queue(), ^{
    fill_with_own_encoder(torch::mps::get_command_buffer());
  });
  return result;
}

// Nothing is open after a synchronisation, and so Metal lets it pass: until another thread calls.
at::Tensor after_synchronize_off_the_queue(const at::Tensor& input) {
  const at::Tensor result = run_operation(input);
  torch::mps::synchronize();
  fill_with_own_encoder(torch::mps::get_command_buffer());
  return result;
}

at::Tensor kept_across_synchronize(const at::Tensor& input) {
  const at::Tensor result = run_operation(input);
  id<MTLCommandBuffer> const kept = [[torch::mps::get_command_buffer() retain] autorelease];
  torch::mps::synchronize();
  dispatch_sync(torch::mps::get_dispatch_queue(), ^{
    fill_with_own_encoder(kept);
  });
  return result;
}

// As it should be, but for an encoder that works because PyTorch's happens to be ended.
at::Tensor own_encoder_on_the_queue(const at::Tensor& input) {
  const at::Tensor result = run_operation(input);
  dispatch_sync(stream().queue(), ^{
    stream().endKernelCoalescing();
    fill_with_own_encoder(stream().commandBuffer());
  });
  return result;
}

at::Tensor with_torchs_encoder(const at::Tensor& input) {
  const at::Tensor result = run_operation(input);
  dispatch_sync(stream().queue(), ^{
    [stream().commandEncoder() setBuffer:new_bytes() offset:0 atIndex:0];
  });
  return result;
}

}  // namespace

TORCH_LIBRARY(demo, library) {
  for (const char* name : {"second_encoder", "command_buffer", "off_queue", "borrowed_buffer",
                           "own_encoder", "torchs_encoder"}) {
    library.def((std::string(name) + "(Tensor input) -> Tensor").c_str());
  }
}
TORCH_LIBRARY_IMPL(demo, MPS, library) {
  library.impl("second_encoder", while_torchs_is_open);
  library.impl("command_buffer", in_torchs_command_buffer);
  library.impl("off_queue", after_synchronize_off_the_queue);
  library.impl("borrowed_buffer", kept_across_synchronize);
  library.impl("own_encoder", own_encoder_on_the_queue);
  library.impl("torchs_encoder", with_torchs_encoder);
}
