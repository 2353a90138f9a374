// Two threads that add handlers to one command buffer, with random gaps between: what each does by
// itself is right, and that they meet is luck. For observer_bench: `observer_meeting SEED`.
#import <Metal/Metal.h>

#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

namespace {

constexpr int kCalls = 30;
constexpr int kLongestGap = 4000;  // us

void add_handlers(id<MTLCommandBuffer> commands, unsigned seed) {
  @autoreleasepool {
    std::mt19937 generator(seed);
    std::uniform_int_distribution<int> gap(0, kLongestGap);
    for (int call = 0; call < kCalls; ++call) {
      std::this_thread::sleep_for(std::chrono::microseconds(gap(generator)));
      [commands addCompletedHandler:^(id<MTLCommandBuffer>){
      }];
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned seed = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 1;
  @autoreleasepool {
    id<MTLDevice> const device = MTLCreateSystemDefaultDevice();
    id<MTLCommandBuffer> const commands = [[device newCommandQueue] commandBuffer];
    std::thread other([&] { add_handlers(commands, 2 * seed); });
    add_handlers(commands, 2 * seed + 1);
    other.join();
  }
  return 0;
}
