#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include <atomic>
#include <string>

#include "scenarios/objective_c/owned.h"
#include "scenarios/sim/face/ndarray.h"
#include "scenarios/sim/face/objects.h"

using namespace mpsprobe::sim;
using namespace mpsprobe::sim::face;

namespace {

struct KernelHalf {
  NSUInteger source_count = 0;
  std::atomic<bool> encoding = false;
};
KernelHalf& half_of(MPSKernel* kernel) { return *static_cast<KernelHalf*>(kernel->simulated_); }

/// One encode of a kernel object; ends also where a defect raises an exception.
class Encoding {
 public:
  Encoding(KernelHalf& half, const char* place) : half_(half) {
    if (half_.encoding.exchange(true)) {
      metal::fail_assertion(place, 0, "kernel object encoded by two threads at once");
    }
  }
  Encoding(const Encoding&) = delete;
  Encoding& operator=(const Encoding&) = delete;
  ~Encoding() { half_.encoding.store(false); }

 private:
  KernelHalf& half_;
};

}  // namespace

@implementation MPSKernel
- (instancetype)initWithDevice:(id<MTLDevice>)device {
  // there is one
  if ((self = [super init]) != nil) simulated_ = new KernelHalf;
  return self;
}
- (void)dealloc {
  delete &half_of(self);
  [super dealloc];
}
@end

@implementation MPSNDArrayMultiaryBase
- (instancetype)initWithDevice:(id<MTLDevice>)device sourceCount:(NSUInteger)count {
  if ((self = [super initWithDevice:device]) != nil) half_of(self).source_count = count;
  return self;
}
@end

@implementation MPSNDArrayMultiaryKernel
- (instancetype)initWithDevice:(id<MTLDevice>)device sourceCount:(NSUInteger)count {
  return [super initWithDevice:device sourceCount:count];
}
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)cmdBuf
                 sourceArrays:(NSArray<MPSNDArray*>*)sourceArrays
             destinationArray:(MPSNDArray*)destination {
  metal::fail_assertion("-[MPSNDArrayMultiaryKernel encode]", 0, "not a kernel by itself");
}
- (void)encodeToCommandEncoder:(id<MTLComputeCommandEncoder>)encoder
                 commandBuffer:(id<MTLCommandBuffer>)commandBuffer
                  sourceArrays:(NSArray<MPSNDArray*>*)sourceArrays
              destinationArray:(MPSNDArray*)destination {
  [self encodeToCommandBuffer:commandBuffer sourceArrays:sourceArrays destinationArray:destination];
}
@end

namespace {

/// Kernels take command buffers of Metal's and of MPS's alike.
SimulatedCommandBuffer* underlying(id<MTLCommandBuffer> buffer) {
  if ([(NSObject*)buffer isKindOfClass:[MPSCommandBuffer class]]) {
    return (SimulatedCommandBuffer*)[(MPSCommandBuffer*)buffer rootCommandBuffer];
  }
  return (SimulatedCommandBuffer*)buffer;
}

/// Into `encoder`, or into one of its own where that is nil.
void encode_product(KernelHalf& half, SimulatedEncoder* encoder, SimulatedCommandBuffer* buffer,
                    NSArray<MPSNDArray*>* sourceArrays, MPSNDArray* destination) {
  const char* const place = "-[MPSNDArrayMatrixMultiplication encode]";
  // MPSKernel: one thread at a time for any one object.
  const Encoding encoding(half, place);
  if ([sourceArrays count] != half.source_count || half.source_count < 2 || half.source_count > 3) {
    metal::fail_assertion(place, 0, "number of source arrays is not that of the kernel");
  }
  MPSNDArray* const a = [sourceArrays objectAtIndex:0];
  MPSNDArray* const b = [sourceArrays objectAtIndex:1];
  MPSNDArray* const bias = half.source_count == 3 ? [sourceArrays objectAtIndex:2] : nil;
  const Sizes left = sizes_of(placed_of(a));
  const Sizes right = sizes_of(placed_of(b));
  const Sizes result = sizes_of(placed_of(destination));
  if (left.size() != 2 || right.size() != 2) {
    metal::fail_assertion(place, 0,
                          "the simulated device multiplies arrays of two dimensions alone");
  }
  if (left[1] != right[0] || result != Sizes{left[0], right[1]} ||
      (bias != nil && sizes_of(placed_of(bias)) != result)) {
    metal::fail_assertion(place, 0, "matrices that do not fit one another");
  }
  using Held = mpsprobe::Owned<MPSNDArray*>;
  // LibTorch's aten::linear is the product with a bias, and aten::mm the one without.
  encode_work(buffer, encoder, bias == nil ? "mm" : "linear", EncodePath::nograph,
              [a = Held::retain(a), b = Held::retain(b), bias = Held::retain(bias),
               out = Held::retain(destination)](bool wrong) {
                Array product = multiply(read(placed_of(a.get())), read(placed_of(b.get())));
                if (bias) {
                  const Array added = read(placed_of(bias.get()));
                  const Array* const both[] = {&product, &added};
                  product = each_element(both, [](const double* x) { return x[0] + x[1]; });
                }
                write(placed_of(out.get()), product, wrong);
              });
}

}  // namespace

@implementation MPSNDArrayMatrixMultiplication
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)cmdBuf
                 sourceArrays:(NSArray<MPSNDArray*>*)sourceArrays
             destinationArray:(MPSNDArray*)destination {
  encode_product(half_of(self), nil, underlying(cmdBuf), sourceArrays, destination);
}
- (void)encodeToCommandEncoder:(id<MTLComputeCommandEncoder>)encoder
                 commandBuffer:(id<MTLCommandBuffer>)commandBuffer
                  sourceArrays:(NSArray<MPSNDArray*>*)sourceArrays
              destinationArray:(MPSNDArray*)destination {
  encode_product(half_of(self), (SimulatedEncoder*)encoder, underlying(commandBuffer), sourceArrays,
                 destination);
}
@end
