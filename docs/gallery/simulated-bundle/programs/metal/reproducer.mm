// bad access in mpsprobe::sim::SharedKernel::set_pipeline_state
// mpsprobe run --cell sim/linear/default/threads=3/iterations=1
// SIMULATED (profile report-000): no evidence about Apple's software.
// clang++ -std=c++20 -fobjc-arc -framework Foundation -framework CoreGraphics -framework Metal -framework MetalPerformanceShaders reproducer.mm -o reproducer
// It needs macOS 15.
// MTL_DEBUG_LAYER=1 and MTL_SHADER_VALIDATION=1 would name a misuse of the API.
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

template <typename Value>
id<MTLBuffer> filled(id<MTLDevice> device, size_t elements, Value value) {
  std::vector<float> all(elements);
  for (size_t i = 0; i < elements; ++i) all[i] = value(i);
  return [device newBufferWithBytes:all.data() length:4 * elements options:MTLResourceStorageModeShared];
}

MPSNDArray* array(id<MTLBuffer> buffer, NSArray<NSNumber*>* shape, bool transposed) {
  MPSNDArrayDescriptor* const layout = [MPSNDArrayDescriptor descriptorWithDataType:MPSDataTypeFloat32 shape:shape];
  layout.preferPackedRows = YES;
  if (transposed) [layout transposeDimension:0 withDimension:1];
  return [[MPSNDArray alloc] initWithBuffer:buffer offset:0 descriptor:layout];
}

int attempt() {
  id<MTLDevice> device = MTLCreateSystemDefaultDevice();
  if (device == nil) return std::puts("Metal has no device here"), 2;
  id<MTLBuffer> weight = filled(device, 64 * 64, [&](size_t) { return 1.0F; });
  id<MTLBuffer> bias = filled(device, 8 * 64, [&](size_t) { return 1.0F; });
  std::atomic<bool> failed = false;
  std::atomic<int> waiting = 3;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      @autoreleasepool {
        const float x = static_cast<float>(t + 1) / 16;
        id<MTLCommandQueue> queue = [device newCommandQueue];
        id<MTLBuffer> input = filled(device, 8 * 64, [&](size_t) { return x; });
        MPSNDArrayMatrixMultiplication* kernel =
            [[MPSNDArrayMatrixMultiplication alloc] initWithDevice:device sourceCount:3];
        --waiting;
        while (waiting > 0) continue;
        id<MTLBuffer> out = filled(device, 8 * 64, [&](size_t) { return -1.0F; });
        MPSCommandBuffer* both = [MPSCommandBuffer commandBufferFromCommandQueue:queue];
        id<MTLCommandBuffer> commands = [both rootCommandBuffer];
        id<MTLComputeCommandEncoder> encoder = [both computeCommandEncoder];
        NSArray* sources = @[
          array(input, @[ @(8), @(64) ], false), array(weight, @[ @(64), @(64) ], true),
          array(bias, @[ @(8), @(64) ], false)
        ];
        [kernel encodeToCommandEncoder:encoder commandBuffer:both sourceArrays:sources
                      destinationArray:array(out, @[ @(8), @(64) ], false)];
        [encoder endEncoding];
        [both commit];
        [commands waitUntilCompleted];
        if ([commands status] != MTLCommandBufferStatusCompleted) failed = true;
      }
    });
  }
  for (std::thread& each : threads) each.join();
  return failed ? 1 : 0;
}

int main(int argc, char** argv) {
  if (argc > 1) return alarm(60), attempt();  // a hang dies of SIGALRM
  int failed = 0;  // of 9 processes, 1 s in all
  const std::string once = "'" + std::string(argv[0]) + "' once";
  for (int i = 0; i < 9; ++i) failed += pclose(popen(once.c_str(), "w")) != 0;
  std::printf("%d of 9 processes failed\n", failed);
  return failed > 0;
}
