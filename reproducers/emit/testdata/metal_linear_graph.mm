// SIGSEGV in f
// mpsprobe run --cell metal/linear/graph/threads=3
// clang++ -std=c++20 -fobjc-arc -framework Foundation -framework CoreGraphics -framework Metal -framework MetalPerformanceShaders -framework MetalPerformanceShadersGraph reproducer.mm -o reproducer
// MTL_DEBUG_LAYER=1 and MTL_SHADER_VALIDATION=1 would name a misuse of the API.
#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
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

MPSGraphTensorData* data(id<MTLBuffer> buffer, NSArray<NSNumber*>* shape) {
  return [[MPSGraphTensorData alloc] initWithMTLBuffer:buffer shape:shape dataType:MPSDataTypeFloat32];
}

int attempt() {
  id<MTLDevice> device = MTLCreateSystemDefaultDevice();
  if (device == nil) return std::puts("Metal has no device here"), 2;
  std::atomic<bool> failed = false;
  std::atomic<int> waiting = 3;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      @autoreleasepool {
        const float x = static_cast<float>(t + 1) / 16;
        id<MTLCommandQueue> queue = [device newCommandQueue];
        MPSGraph* graph = [[MPSGraph alloc] init];
        MPSGraphTensor* in0 = [graph placeholderWithShape:@[ @(8), @(64) ]
                                                    dataType:MPSDataTypeFloat32 name:nil];
        MPSGraphTensorData* data0 = data(filled(device, 8 * 64, [&](size_t) { return x; }), @[ @(8), @(64) ]);
        MPSGraphTensor* in1 = [graph placeholderWithShape:@[ @(64), @(64) ]
                                                    dataType:MPSDataTypeFloat32 name:nil];
        MPSGraphTensorData* data1 = data(filled(device, 64 * 64, [&](size_t) { return 1.0F; }), @[ @(64), @(64) ]);
        MPSGraphTensor* in2 = [graph placeholderWithShape:@[ @(64) ]
                                                    dataType:MPSDataTypeFloat32 name:nil];
        MPSGraphTensorData* data2 = data(filled(device, 64, [&](size_t) { return 1.0F; }), @[ @(64) ]);
        MPSGraphTensor* result = [graph additionWithPrimaryTensor:[graph matrixMultiplicationWithPrimaryTensor:in0
                                            secondaryTensor:[graph transposeTensor:in1 dimension:0 withDimension:1 name:nil]
                                            name:nil] secondaryTensor:in2 name:nil];
        --waiting;
        while (waiting > 0) continue;
        for (int n = 0; n < 10; ++n) {
          @autoreleasepool {
            id<MTLBuffer> out = filled(device, 8 * 64, [&](size_t) { return -1.0F; });
            MPSCommandBuffer* both = [MPSCommandBuffer commandBufferFromCommandQueue:queue];
            id<MTLCommandBuffer> commands = [both rootCommandBuffer];
            [graph encodeToCommandBuffer:both feeds:@{in0 : data0, in1 : data1, in2 : data2} targetOperations:nil
                       resultsDictionary:@{result : data(out, @[ @(8), @(64) ])} executionDescriptor:nil];
            id<MTLCommandBuffer> last = [both rootCommandBuffer];
            [both commit];
            [last waitUntilCompleted];
            [commands waitUntilCompleted];
            if ([commands status] != MTLCommandBufferStatusCompleted) failed = true;
            const auto* numbers = static_cast<const float*>([out contents]);
            for (size_t i = 0; i < 8 * 64; ++i) {
              const float right = 64 * x + 1;
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
