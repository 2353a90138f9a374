// SIGSEGV in f
// mpsprobe run --cell metal/add/nograph/threads=3/queue=shared/lock=forward
// clang++ -std=c++20 -fobjc-arc -framework Foundation -framework CoreGraphics -framework Metal reproducer.mm -o reproducer
// MTL_DEBUG_LAYER=1 and MTL_SHADER_VALIDATION=1 would name a misuse of the API.
#import <Metal/Metal.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

constexpr const char* kSource = R"metal(
#include <metal_stdlib>
using namespace metal;
kernel void add_arrays(device const float* a [[buffer(0)]], device const float* b [[buffer(1)]],
                       device float* out [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  out[i] = a[i] + b[i];
}
)metal";

template <typename Value>
id<MTLBuffer> filled(id<MTLDevice> device, size_t elements, Value value) {
  std::vector<float> all(elements);
  for (size_t i = 0; i < elements; ++i) all[i] = value(i);
  return [device newBufferWithBytes:all.data() length:4 * elements options:MTLResourceStorageModeShared];
}

int attempt() {
  id<MTLDevice> device = MTLCreateSystemDefaultDevice();
  if (device == nil) return std::puts("Metal has no device here"), 2;
  NSError* error = nil;
  id<MTLLibrary> library = [device newLibraryWithSource:@(kSource) options:nil error:&error];
  if (library == nil) return std::puts([[error localizedDescription] UTF8String]), 2;
  id<MTLFunction> function = [library newFunctionWithName:@"add_arrays"];
  id<MTLCommandQueue> queue = [device newCommandQueue];
  std::mutex lock;
  std::atomic<bool> failed = false;
  std::atomic<int> waiting = 3;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      @autoreleasepool {
        const float x = static_cast<float>(t + 1) / 16;
        NSError* error = nil;
        id<MTLComputePipelineState> pipeline =
            [device newComputePipelineStateWithFunction:function error:&error];
        id<MTLBuffer> in0 = filled(device, 100 * 100, [&](size_t) { return x; });
        id<MTLBuffer> in1 = filled(device, 100 * 100, [&](size_t) { return 1.0F; });
        --waiting;
        while (waiting > 0) continue;
        for (int n = 0; n < 10; ++n) {
          @autoreleasepool {
            id<MTLBuffer> out = filled(device, 100 * 100, [&](size_t) { return -1.0F; });
            std::unique_lock<std::mutex> turn(lock);
            id<MTLCommandBuffer> commands = [queue commandBuffer];
            id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
            [encoder setComputePipelineState:pipeline];
            [encoder setBuffer:in0 offset:0 atIndex:0];
            [encoder setBuffer:in1 offset:0 atIndex:1];
            [encoder setBuffer:out offset:0 atIndex:2];
            [encoder dispatchThreads:MTLSizeMake(100 * 100, 1, 1) threadsPerThreadgroup:MTLSizeMake(32, 1, 1)];
            [encoder endEncoding];
            [commands commit];
            turn.unlock();
            [commands waitUntilCompleted];
            if ([commands status] != MTLCommandBufferStatusCompleted) failed = true;
            const auto* numbers = static_cast<const float*>([out contents]);
            for (size_t i = 0; i < 100 * 100; ++i) {
              const float right = x + 1;
              if (std::fabs(numbers[i] - right) <= 1e-3F * (1 + std::fabs(right))) continue;
              std::printf("thread %d, index %zu: expected %g, got %g\n", t, i, right, numbers[i]);
              failed = true;
              break;
            }
          }
        }
      }
    });
  }
  for (std::thread& each : threads) each.join();
  return failed ? 1 : 0;
}

int main(int argc, char** argv) {
  if (argc > 1) return alarm(60), attempt();  // a hang dies of SIGALRM
  int failed = 0;  // of 20 processes
  const std::string once = "'" + std::string(argv[0]) + "' once";
  for (int i = 0; i < 20; ++i) failed += pclose(popen(once.c_str(), "w")) != 0;
  std::printf("%d of 20 processes failed\n", failed);
  return failed > 0;
}
