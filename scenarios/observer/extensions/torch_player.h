#pragma once

#import <Metal/Metal.h>

#include <functional>

// PyTorch's stream of MPS as an extension sees it (ATen/mps/MPSStream.h): one command buffer that
// goes on from operation to operation, one encoder that stays open between kernels, and a serial
// queue on which both are used. Played by a library whose name begins as PyTorch's do, for that is
// what the observer knows them by; and done by LibTorch itself on the stand-in.

#define TORCH_PLAYER __attribute__((visibility("default")))

namespace torch_player {

/// Runs `work` on the stream's queue, as dispatch_sync(stream->queue(), ...) does.
TORCH_PLAYER void on_queue(const std::function<void()>& work);

/// As MPSStream::commandBuffer, commandEncoder, endKernelCoalescing and
/// synchronize(COMMIT_AND_WAIT).
TORCH_PLAYER id<MTLCommandBuffer> command_buffer();
TORCH_PLAYER id<MTLComputeCommandEncoder> command_encoder();
TORCH_PLAYER void end_kernel_coalescing();
TORCH_PLAYER void synchronize();

/// An operation: opens the encoder on the queue where none is, and leaves it open.
TORCH_PLAYER void run_operation();

}  // namespace torch_player
