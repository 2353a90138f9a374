#include "scenarios/metal/kernels.h"

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <stdexcept>
#include <string>
#include <vector>

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

/// Ends an encoder at the end of its scope, also where what it encoded threw: an encoder that is
/// released without that ends the process.
class EncoderScope {
 public:
  explicit EncoderScope(id<MTLCommandEncoder> encoder) : encoder_(encoder) {}
  EncoderScope(const EncoderScope&) = delete;
  EncoderScope& operator=(const EncoderScope&) = delete;
  ~EncoderScope() { [encoder_ endEncoding]; }

 private:
  id<MTLCommandEncoder> encoder_;
};

/// A fill by the blit encoder.
class ZerosKernel : public StepKernel {
 public:
  void encode(Submission& submission, std::span<const Buffer>, const Buffer& result) override {
    // One encoder at a time is open on a command buffer, and it is ended before the next or the
    // commit (MTLCommandBuffer: "You can use only a single encoder at a time"). The range is a
    // multiple of four bytes, as macOS asks.
    id<MTLBlitCommandEncoder> const encoder =
        required([submission.commands() blitCommandEncoder], "blitCommandEncoder");
    const EncoderScope scope(encoder);
    [encoder fillBuffer:result.get() range:NSMakeRange(0, [result.get() length]) value:0];
  }
  bool threads_take_turns() const override { return false; }
};

/// A product by MPSNDArrayMatrixMultiplication, as LibTorch's linear without a graph. A third
/// source is added: a matrix as large as the result, since Apple's header defines no other.
class ProductKernel : public StepKernel {
 public:
  ProductKernel(id<MTLDevice> device, const Recipe& recipe, const Step& step, const Sizes& result,
                bool open_encoder)
      : transposed_(step.kind == StepKind::linear), open_encoder_(open_encoder), result_(result) {
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
    if (!open_encoder_) {
      [kernel_.get() encodeToCommandBuffer:submission.commands()
                              sourceArrays:list
                          destinationArray:destination.get()];
      return;
    }
    if (@available(macOS 15.0, *)) {
      [kernel_.get() encodeToCommandEncoder:submission.encoder()
                              commandBuffer:submission.encoded()
                               sourceArrays:list
                           destinationArray:destination.get()];
    }
  }
  bool threads_take_turns() const override { return true; }

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
  bool open_encoder_;
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
  bool threads_take_turns() const override { return false; }

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
      case StepKind::addition:
        return [graph additionWithPrimaryTensor:inputs[0] secondaryTensor:inputs[1] name:nil];
      case StepKind::relu:
        return [graph reLUWithTensor:inputs[0] name:nil];
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
      case StepKind::zeros:
        break;
    }
    return nil;
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

std::unique_ptr<StepKernel> make_kernel(id<MTLDevice> device, const Recipe& recipe, size_t step,
                                        Way way, uint64_t seed) {
  const Step& what = recipe.steps[step];
  const Sizes& result = recipe.values[recipe.result_of(step)];
  if (what.kind == StepKind::zeros) return std::make_unique<ZerosKernel>();
  const bool is_product = what.kind == StepKind::product || what.kind == StepKind::linear;
  if (is_product && !way.graph) {
    return std::make_unique<ProductKernel>(device, recipe, what, result, way.open_encoder);
  }
  return std::make_unique<GraphKernel>(recipe, what, result, seed);
}

}  // namespace mpsprobe::metal
