#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include <atomic>
#include <string>

#include "scenarios/objective_c/owned.h"
#include "scenarios/sim/face/ndarray.h"
#include "scenarios/sim/face/objects.h"

using mpsprobe::sim::EncodePath;
using mpsprobe::sim::face::encode_work;
using mpsprobe::sim::face::first_number;
using mpsprobe::sim::face::matrix_of;
using mpsprobe::sim::face::MatrixView;
using mpsprobe::Owned;
namespace metal = mpsprobe::sim::metal;

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
  (void)device;  // there is one
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
  (void)cmdBuf;
  (void)sourceArrays;
  (void)destination;
  metal::fail_assertion("-[MPSNDArrayMultiaryKernel encode]", 0, "not a kernel by itself");
}
- (void)encodeToCommandEncoder:(id<MTLComputeCommandEncoder>)encoder
                 commandBuffer:(id<MTLCommandBuffer>)commandBuffer
                  sourceArrays:(NSArray<MPSNDArray*>*)sourceArrays
              destinationArray:(MPSNDArray*)destination {
  (void)encoder;
  [self encodeToCommandBuffer:commandBuffer sourceArrays:sourceArrays destinationArray:destination];
}
@end

namespace {

/// out = a x b, with b having as many columns as out, and an optional matrix that is added.
void multiply_arrays(MPSNDArray* a, MPSNDArray* b, MPSNDArray* bias, MPSNDArray* out, bool wrong) {
  const MatrixView result = matrix_of(out);
  const auto count = static_cast<size_t>(result.rows * result.columns);
  const std::span<float> numbers(first_number(out), count);
  mpsprobe::sim::face::multiply(
      matrix_of(a), matrix_of(b),
      bias == nil ? std::span<const float>() : std::span<const float>(first_number(bias), count),
      numbers);
  if (wrong) mpsprobe::sim::face::overwrite(numbers);
}

/// Kernels take command buffers of Metal's and of MPS's alike.
SimulatedCommandBuffer* underlying(id<MTLCommandBuffer> buffer) {
  if ([(NSObject*)buffer isKindOfClass:[MPSCommandBuffer class]]) {
    return (SimulatedCommandBuffer*)[(MPSCommandBuffer*)buffer rootCommandBuffer];
  }
  return (SimulatedCommandBuffer*)buffer;
}

}  // namespace

namespace {

bool is_packed(const MatrixView& matrix) {
  return matrix.column_stride == 1 && matrix.row_stride == matrix.columns;
}
bool same_sizes(const MatrixView& a, const MatrixView& b) {
  return a.rows == b.rows && a.columns == b.columns;
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
  const MatrixView left = matrix_of(a);
  const MatrixView right = matrix_of(b);
  const MatrixView result = matrix_of(destination);
  const bool fits =
      left.columns == right.rows && left.rows == result.rows && right.columns == result.columns &&
      is_packed(result) &&
      (bias == nil || (same_sizes(matrix_of(bias), result) && is_packed(matrix_of(bias))));
  if (!fits) metal::fail_assertion(place, 0, "matrices that do not fit one another");
  using Array = Owned<MPSNDArray*>;
  // LibTorch's aten::linear is the product with a bias, and aten::mm the one without.
  encode_work(buffer, encoder, bias == nil ? "mm" : "linear", EncodePath::nograph,
              [a = Array::retain(a), b = Array::retain(b), bias = Array::retain(bias),
               out = Array::retain(destination)](bool wrong) {
                multiply_arrays(a.get(), b.get(), bias.get(), out.get(), wrong);
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
