#include "scenarios/sim/face/testdata/workbench.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace mpsprobe::metal_rules {

id<MTLDevice> device() {
  static const id<MTLDevice> only = MTLCreateSystemDefaultDevice();
  if (only == nil) {
    std::fputs("metal_rules: no Metal device. Run it on a Mac that has one, or on Linux.\n",
               stderr);
    std::exit(3);
  }
  return only;
}

id<MTLCommandQueue> new_queue() { return [[device() newCommandQueue] autorelease]; }

id<MTLCommandBuffer> new_command_buffer() {
  return [new_queue() commandBuffer];  // keeps its queue
}

id<MTLBuffer> bytes(NSUInteger length) {
  return [[device() newBufferWithLength:length options:MTLResourceStorageModeShared] autorelease];
}

id<MTLBuffer> floats(std::span<const float> numbers) {
  return [[device() newBufferWithBytes:numbers.data()
                                length:numbers.size_bytes()
                               options:MTLResourceStorageModeShared] autorelease];
}

MPSNDArray* matrix(id<MTLBuffer> buffer, NSUInteger offset) {
  if (@available(macOS 15.0, *)) {
    MPSNDArrayDescriptor* const descriptor =
        [MPSNDArrayDescriptor descriptorWithDataType:MPSDataTypeFloat32 shape:@[ @2, @2 ]];
    [descriptor setPreferPackedRows:YES];
    return [[[MPSNDArray alloc] initWithBuffer:buffer offset:offset
                                    descriptor:descriptor] autorelease];
  }
  std::fputs("metal_rules: arrays in buffers need macOS 15. Choose another rule.\n", stderr);
  std::exit(3);
}

MPSNDArrayMatrixMultiplication* product_kernel() {
  return [[[MPSNDArrayMatrixMultiplication alloc] initWithDevice:device()
                                                     sourceCount:2] autorelease];
}

void encode_fill(id<MTLCommandBuffer> commands, id<MTLBuffer> buffer, NSRange range,
                 uint8_t value) {
  const id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
  [encoder fillBuffer:buffer range:range value:value];
  [encoder endEncoding];
}

std::string run(id<MTLCommandBuffer> commands) {
  [commands commit];
  [commands waitUntilCompleted];
  if ([commands status] == MTLCommandBufferStatusCompleted && [commands error] == nil) return "";
  const char* const error = [[[commands error] localizedDescription] UTF8String];
  return "command buffer ended with status " +
         std::to_string(static_cast<unsigned long>([commands status])) + ", error " +
         (error == nullptr ? "none" : error);
}

std::string holds(id<MTLBuffer> buffer, NSRange range, uint8_t value) {
  const auto* const all = static_cast<const uint8_t*>([buffer contents]);
  for (NSUInteger i = range.location; i < range.location + range.length; ++i) {
    if (all[i] != value) {
      return "byte " + std::to_string(i) + " is " + std::to_string(all[i]) + ", not " +
             std::to_string(value);
    }
  }
  return "";
}

std::string holds(id<MTLBuffer> buffer, NSUInteger offset, std::span<const float> expected) {
  const auto* const numbers =
      reinterpret_cast<const float*>(static_cast<const char*>([buffer contents]) + offset);
  for (size_t i = 0; i < expected.size(); ++i) {
    if (numbers[i] != expected[i]) {
      return "number " + std::to_string(i) + " is " + std::to_string(numbers[i]) + ", not " +
             std::to_string(expected[i]);
    }
  }
  return "";
}

std::string either(const std::string& first, const std::string& second) {
  return first.empty() ? second : first;
}

void on_another_thread(const std::function<void()>& work) {
  std::thread([&] {
    @autoreleasepool {
      work();
    }
  }).join();
}

void hand_over_unordered(const std::function<id()>& make, const std::function<void(id)>& use) {
#if __has_feature(thread_sanitizer)
  // It would tell of the race before the device does.
  constexpr auto kStores = std::memory_order_release, kLoads = std::memory_order_acquire;
#else
  constexpr auto kStores = std::memory_order_relaxed, kLoads = std::memory_order_relaxed;
#endif
  std::atomic<void*> made = nullptr;  // of an id nothing atomic can be made
  std::thread other([&] {
    @autoreleasepool {
      void* seen = nullptr;
      while ((seen = made.load(kLoads)) == nullptr) std::this_thread::yield();
      use(static_cast<id>(seen));
    }
  });
  made.store(make(), kStores);
  other.join();
}

}  // namespace mpsprobe::metal_rules
