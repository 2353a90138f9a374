// Programs of one thread that play an extension of PyTorch's: `torch_extension CASE`.
#include <cstdio>
#include <cstring>

#include "scenarios/observer/extensions/torch_player.h"

namespace {

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
  torch_player::run_operation();
  torch_player::on_queue([] { fill_with_own_encoder(torch_player::command_buffer()); });
}

// Nothing is open after a synchronisation, and so Metal lets it pass: until another thread calls.
void after_synchronize_off_the_queue() {
  torch_player::run_operation();
  torch_player::synchronize();
  fill_with_own_encoder(torch_player::command_buffer());
}

void kept_across_synchronize() {
  torch_player::run_operation();
  id<MTLCommandBuffer> const kept = [[torch_player::command_buffer() retain] autorelease];
  torch_player::synchronize();
  torch_player::on_queue([&] { fill_with_own_encoder(kept); });
}

// As it should be, but for an encoder that works because PyTorch's happens to be ended.
void own_encoder_on_the_queue() {
  torch_player::run_operation();
  torch_player::on_queue([] {
    torch_player::end_kernel_coalescing();
    fill_with_own_encoder(torch_player::command_buffer());
  });
}

void with_torchs_encoder() {
  torch_player::run_operation();
  torch_player::on_queue([] {
    id<MTLComputeCommandEncoder> const encoder = torch_player::command_encoder();
    [encoder setBuffer:new_bytes() offset:0 atIndex:0];
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
      torch_player::synchronize();
    }
    return 0;
  }
  std::fprintf(stderr, "usage: torch_extension CASE, one of:\n");
  for (const auto& each : kCases) std::fprintf(stderr, "  %s\n", each.name);
  return 2;
}
