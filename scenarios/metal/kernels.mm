#include "scenarios/metal/kernels.h"

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <shaders/kernels_text.h>
#include <stdexcept>
#include <string>
#include <vector>

#if defined(__APPLE__) && !defined(__MAC_15_0)
// Xcode 15 builds for systems that its SDK does not know: what macOS 15 added, and is called where
// it is there.
@interface MPSNDArrayDescriptor (MacOS15)
- (void)setPreferPackedRows:(BOOL)packed API_AVAILABLE(macos(15.0));
@end
@interface MPSNDArray (MacOS15)
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer
                        offset:(NSUInteger)offset
                    descriptor:(MPSNDArrayDescriptor*)descriptor API_AVAILABLE(macos(15.0));
@end
@interface MPSNDArrayMultiaryKernel (MacOS15)
- (void)encodeToCommandEncoder:(id<MTLComputeCommandEncoder>)encoder
                 commandBuffer:(id<MTLCommandBuffer>)commands
                  sourceArrays:(NSArray<MPSNDArray*>*)sources
              destinationArray:(MPSNDArray*)destination API_AVAILABLE(macos(15.0));
@end
#endif

namespace mpsprobe::metal {
namespace {

template <typename Object>
Object required(Object object, const char* what) {
  if (object == nil) throw std::runtime_error(std::string(what) + " gave no object");
  return object;
}

// Autoreleased.
MPSShape* shape_of(const Sizes& sizes) {
  std::vector<NSNumber*> numbers;
  for (const int64_t size : sizes) numbers.push_back([NSNumber numberWithLongLong:size]);
  return [NSArray arrayWithObjects:numbers.data() count:numbers.size()];
}

/// A kernel of kernels.metal, which is compiled when it is made, as LibTorch does with kernels of
/// its own at their first use. Into the encoder that is open: one after the other is what its
/// commands are by default.
class OwnKernel : public StepKernel {
 public:
  OwnKernel(id<MTLDevice> device, StepKind kind) : kind_(kind) {
    NSError* error = nil;
    const auto library = Owned<id<MTLLibrary>>::adopt([device
        newLibraryWithSource:[NSString stringWithUTF8String:kKernelsText]
                     options:nil
                       error:&error]);
    if (!library) throw std::runtime_error(described("kernels.metal was not compiled", error));
    const auto function = Owned<id<MTLFunction>>::adopt(
        required([library.get() newFunctionWithName:[NSString stringWithUTF8String:name_of(kind)]],
                 name_of(kind)));
    pipeline_ = Owned<id<MTLComputePipelineState>>::adopt(
        [device newComputePipelineStateWithFunction:function.get() error:&error]);
    if (!pipeline_) throw std::runtime_error(described(name_of(kind), error));
  }

  void encode(Submission& submission, std::span<const Buffer> sources,
              const Buffer& result) override {
    id<MTLComputeCommandEncoder> const encoder = submission.encoder();
    [encoder setComputePipelineState:pipeline_.get()];
    NSUInteger index = 0;
    for (const Buffer& each : sources) [encoder setBuffer:each.get() offset:0 atIndex:index++];
    [encoder setBuffer:result.get() offset:0 atIndex:index++];
    const float number = kind_ == StepKind::axpy ? kAxpyFactor : 0;
    const bool takes_number = kind_ == StepKind::zeros || kind_ == StepKind::axpy;
    if (takes_number) [encoder setBytes:&number length:sizeof(number) atIndex:index];
    if (kind_ == StepKind::strided_copy) {
      [encoder setBytes:&kCopyStride length:sizeof(kCopyStride) atIndex:index];
    }
    const NSUInteger elements = [result.get() length] / sizeof(float);
    const NSUInteger most = [pipeline_.get() maxTotalThreadsPerThreadgroup];
    [encoder dispatchThreads:MTLSizeMake(elements, 1, 1)
        threadsPerThreadgroup:MTLSizeMake(elements < most ? elements : most, 1, 1)];
  }

  static const char* name_of(StepKind kind) {
    switch (kind) {
      case StepKind::zeros:
        return "fill_array";
      case StepKind::addition:
        return "add_arrays";
      case StepKind::relu:
        return "relu_array";
      case StepKind::axpy:
        return "axpy";
      case StepKind::sine:
        return "sine";
      case StepKind::strided_copy:
        return "strided_copy";
      default:
        return nullptr;
    }
  }

 private:
  static std::string described(const char* what, NSError* error) {
    return std::string(what) + ": " +
           (error == nil ? "no error given" : [[error localizedDescription] UTF8String]);
  }

  StepKind kind_;
  Owned<id<MTLComputePipelineState>> pipeline_;
};

/// A product by MPSNDArrayMatrixMultiplication, as LibTorch's linear without a graph. A third
/// source is added: a matrix as large as the result, since Apple's header defines no other.
class ProductKernel : public StepKernel {
 public:
  ProductKernel(id<MTLDevice> device, const Recipe& recipe, const Step& step, const Sizes& result)
      : transposed_(step.kind == StepKind::linear), result_(result) {
    for (const size_t source : step.sources) sources_.push_back(recipe.values[source]);
    kernel_ = Owned<MPSNDArrayMatrixMultiplication*>::adopt(
        required([[MPSNDArrayMatrixMultiplication alloc] initWithDevice:device
                                                            sourceCount:step.sources.size()],
                 "MPSNDArrayMatrixMultiplication"));
  }

  void encode(Submission& submission, std::span<const Buffer> sources,
              const Buffer& result) override {
    std::vector<Owned<MPSNDArray*>> owned;
    std::vector<MPSNDArray*> arrays;
    for (size_t i = 0; i < sources.size(); ++i) {
      // The weight lies in memory as out x in: its rows are the columns of the product.
      arrays.push_back(
          owned.emplace_back(array_of(sources[i], sources_[i], transposed_ && i == 1)).get());
    }
    const Owned<MPSNDArray*> destination = array_of(result, result_, false);
    NSArray* const list = [NSArray arrayWithObjects:arrays.data() count:arrays.size()];
    if (@available(macOS 15.0, *)) {
      [kernel_.get() encodeToCommandEncoder:submission.encoder()
                              commandBuffer:submission.encoded()
                               sourceArrays:list
                           destinationArray:destination.get()];
    }
  }

 private:
  static Owned<MPSNDArray*> array_of(const Buffer& buffer, const Sizes& sizes, bool transposed) {
    if (@available(macOS 15.0, *)) {
      MPSNDArrayDescriptor* const descriptor =
          [MPSNDArrayDescriptor descriptorWithDataType:MPSDataTypeFloat32 shape:shape_of(sizes)];
      descriptor.preferPackedRows = YES;  // the buffers have no gaps between rows
      if (transposed) [descriptor transposeDimension:0 withDimension:1];
      return Owned<MPSNDArray*>::adopt(required([[MPSNDArray alloc] initWithBuffer:buffer.get()
                                                                            offset:0
                                                                        descriptor:descriptor],
                                                "MPSNDArray"));
    }
    return Owned<MPSNDArray*>::adopt(required<MPSNDArray*>(nil, "MPSNDArray"));
  }

  bool transposed_;
  std::vector<Sizes> sources_;
  Sizes result_;
  Owned<MPSNDArrayMatrixMultiplication*> kernel_;
};

/// A graph of its own for each step, as LibTorch compiles one for each operation and shape.
class GraphKernel : public StepKernel {
 public:
  GraphKernel(const Recipe& recipe, const Step& step, const Sizes& result, uint64_t seed)
      : graph_(Owned<MPSGraph*>::adopt(required([[MPSGraph alloc] init], "MPSGraph"))),
        result_shape_(Owned<MPSShape*>::retain(shape_of(result))) {
    std::vector<MPSGraphTensor*> inputs;
    for (const size_t source : step.sources) {
      MPSShape* const shape = shape_of(recipe.values[source]);
      MPSGraphTensor* const placeholder = [graph_.get() placeholderWithShape:shape
                                                                    dataType:MPSDataTypeFloat32
                                                                        name:nil];
      shapes_.push_back(Owned<MPSShape*>::retain(shape));
      placeholders_.push_back(Owned<MPSGraphTensor*>::retain(placeholder));
      inputs.push_back(placeholder);
    }
    result_ = Owned<MPSGraphTensor*>::retain(
        required(build(step.kind, inputs, result, seed), "MPSGraph"));
  }

  void encode(Submission& submission, std::span<const Buffer> sources,
              const Buffer& result) override {
    std::vector<Owned<MPSGraphTensorData*>> owned;
    std::vector<MPSGraphTensorData*> data;
    std::vector<MPSGraphTensor*> keys;
    for (size_t i = 0; i < sources.size(); ++i) {
      data.push_back(owned.emplace_back(data_of(sources[i], shapes_[i])).get());
      keys.push_back(placeholders_[i].get());
    }
    const Owned<MPSGraphTensorData*> target = data_of(result, result_shape_);
    MPSGraphTensorData* const results[] = {target.get()};
    MPSGraphTensor* const result_keys[] = {result_.get()};
    [graph_.get() encodeToCommandBuffer:submission.commands()
                                  feeds:[NSDictionary dictionaryWithObjects:data.data()
                                                                    forKeys:keys.data()
                                                                      count:keys.size()]
                       targetOperations:nil
                      resultsDictionary:[NSDictionary dictionaryWithObjects:results
                                                                    forKeys:result_keys
                                                                      count:1]
                    executionDescriptor:nil];
  }

 private:
  MPSGraphTensor* build(StepKind kind, const std::vector<MPSGraphTensor*>& inputs,
                        const Sizes& result, uint64_t seed) {
    MPSGraph* const graph = graph_.get();
    switch (kind) {
      case StepKind::product:
        return [graph matrixMultiplicationWithPrimaryTensor:inputs[0]
                                            secondaryTensor:inputs[1]
                                                       name:nil];
      case StepKind::linear: {
        MPSGraphTensor* const weight = [graph transposeTensor:inputs[1]
                                                    dimension:0
                                                withDimension:1
                                                         name:nil];
        MPSGraphTensor* const product = [graph matrixMultiplicationWithPrimaryTensor:inputs[0]
                                                                     secondaryTensor:weight
                                                                                name:nil];
        return [graph additionWithPrimaryTensor:product secondaryTensor:inputs[2] name:nil];
      }
      case StepKind::softmax:
        return [graph softMaxWithTensor:inputs[0] axis:-1 name:nil];
      case StepKind::normal: {
        MPSGraphRandomOpDescriptor* const descriptor =
            [MPSGraphRandomOpDescriptor descriptorWithDistribution:MPSGraphRandomDistributionNormal
                                                          dataType:MPSDataTypeFloat32];
        descriptor.mean = 0;
        descriptor.standardDeviation = 1;
        return [graph randomTensorWithShape:shape_of(result)
                                 descriptor:descriptor
                                       seed:seed
                                       name:nil];
      }
      default:
        return nil;
    }
  }

  static Owned<MPSGraphTensorData*> data_of(const Buffer& buffer, const Owned<MPSShape*>& shape) {
    return Owned<MPSGraphTensorData*>::adopt(
        required([[MPSGraphTensorData alloc] initWithMTLBuffer:buffer.get()
                                                         shape:shape.get()
                                                      dataType:MPSDataTypeFloat32],
                 "MPSGraphTensorData"));
  }

  Owned<MPSGraph*> graph_;
  std::vector<Owned<MPSShape*>> shapes_;
  std::vector<Owned<MPSGraphTensor*>> placeholders_;
  Owned<MPSShape*> result_shape_;
  Owned<MPSGraphTensor*> result_;
};

}  // namespace

bool takes_own_kernel(StepKind kind) { return OwnKernel::name_of(kind) != nullptr; }

std::unique_ptr<StepKernel> make_kernel(id<MTLDevice> device, const Recipe& recipe, size_t step,
                                        bool graph, uint64_t seed) {
  const Step& what = recipe.steps[step];
  const Sizes& result = recipe.values[recipe.result_of(step)];
  if (takes_own_kernel(what.kind)) return std::make_unique<OwnKernel>(device, what.kind);
  const bool is_product = what.kind == StepKind::product || what.kind == StepKind::linear;
  if (is_product && !graph) {
    return std::make_unique<ProductKernel>(device, recipe, what, result);
  }
  return std::make_unique<GraphKernel>(recipe, what, result, seed);
}

}  // namespace mpsprobe::metal
