// torch_player.h with LibTorch itself, where the stand-in for PyTorch's device is linked.
#include <dispatch/dispatch.h>

#include <ATen/ATen.h>
#include <ATen/mps/MPSStream.h>
#include <torch/csrc/api/include/torch/mps.h>

#include "scenarios/observer/extensions/torch_player.h"

namespace torch_player {

void on_queue(const std::function<void()>& work) {
  dispatch_sync(torch::mps::get_dispatch_queue(), ^{
    work();
  });
}

// On the queue the stream's own; elsewhere what PyTorch gives to extensions, off the queue too.
id<MTLCommandBuffer> command_buffer() {
  if (*dispatch_queue_get_label(DISPATCH_CURRENT_QUEUE_LABEL) == '\0')
    return torch::mps::get_command_buffer();
  return at::mps::getCurrentMPSStream()->commandBuffer();
}

id<MTLComputeCommandEncoder> command_encoder() {
  return at::mps::getCurrentMPSStream()->commandEncoder();
}

void end_kernel_coalescing() { at::mps::getCurrentMPSStream()->endKernelCoalescing(); }

void synchronize() { torch::mps::synchronize(); }

void run_operation() {
  static const at::Tensor numbers =
      at::ones({4}, at::TensorOptions().device(at::Device(at::kMPS, 0)));
  at::abs(numbers);
}

}  // namespace torch_player
