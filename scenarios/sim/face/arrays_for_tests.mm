#include "scenarios/sim/face/arrays_for_tests.h"

#include <array>
#include <random>

#include "scenarios/sim/face/testdata/workbench.h"

namespace mpsprobe::sim::face {

using metal_rules::bytes;
using metal_rules::device;
using metal_rules::floats;

std::vector<float> some_numbers(size_t count, uint32_t seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> between(-1, 1);
  std::vector<float> numbers(count);
  for (float& each : numbers) each = between(generator);
  return numbers;
}

std::vector<float> numbers_of(id<MTLBuffer> buffer) {
  const auto* const first = static_cast<const float*>([buffer contents]);
  const size_t count = [buffer length] / sizeof(float);
  return {first, first + count};
}

MPSShape* shape(std::span<const int64_t> sizes) {
  std::vector<NSNumber*> numbers;
  for (const int64_t size : sizes) numbers.push_back([NSNumber numberWithLongLong:size]);
  return [NSArray arrayWithObjects:numbers.data() count:numbers.size()];
}

MPSNDArray* array_of(id<MTLBuffer> buffer, std::span<const int64_t> sizes, bool transposed) {
  MPSNDArrayDescriptor* const descriptor =
      [MPSNDArrayDescriptor descriptorWithDataType:MPSDataTypeFloat32 shape:shape(sizes)];
  if (transposed) [descriptor transposeDimension:0 withDimension:1];
  return [[[MPSNDArray alloc] initWithBuffer:buffer offset:0 descriptor:descriptor] autorelease];
}

MPSGraphTensorData* data_of(id<MTLBuffer> buffer, std::span<const int64_t> sizes) {
  return [[[MPSGraphTensorData alloc] initWithMTLBuffer:buffer
                                                  shape:shape(sizes)
                                               dataType:MPSDataTypeFloat32] autorelease];
}

std::vector<double> Layer::result() const {
  std::vector<double> all;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t output = 0; output < outputs; ++output) {
      double sum = bias[static_cast<size_t>(output)];
      for (int64_t k = 0; k < inputs; ++k) {
        sum += double{x[static_cast<size_t>(row * inputs + k)]} *
               weight[static_cast<size_t>(output * inputs + k)];
      }
      all.push_back(sum);
    }
  }
  return all;
}

id<MTLBuffer> encode_by_kernel(const Layer& layer, id<MTLCommandBuffer> commands) {
  const id<MTLBuffer> result =
      bytes(static_cast<NSUInteger>(layer.rows * layer.outputs) * sizeof(float));
  MPSNDArrayMatrixMultiplication* const kernel =
      [[[MPSNDArrayMatrixMultiplication alloc] initWithDevice:device() sourceCount:3] autorelease];
  const std::array<int64_t, 2> x = {layer.rows, layer.inputs};
  const std::array<int64_t, 2> weight = {layer.outputs, layer.inputs};
  const std::array<int64_t, 2> out = {layer.rows, layer.outputs};
  std::vector<float> bias;  // in every row
  for (int64_t row = 0; row < layer.rows; ++row) {
    bias.insert(bias.end(), layer.bias.begin(), layer.bias.end());
  }
  [kernel encodeToCommandBuffer:commands
                   sourceArrays:@[
                     array_of(floats(layer.x), x), array_of(floats(layer.weight), weight, true),
                     array_of(floats(bias), out)
                   ]
               destinationArray:array_of(result, out)];
  return result;
}

id<MTLBuffer> encode_by_graph(const Layer& layer, MPSCommandBuffer* commands) {
  const std::array<int64_t, 2> x = {layer.rows, layer.inputs};
  const std::array<int64_t, 2> weight = {layer.outputs, layer.inputs};
  const std::array<int64_t, 1> bias = {layer.outputs};
  const std::array<int64_t, 2> out = {layer.rows, layer.outputs};
  const id<MTLBuffer> result =
      bytes(static_cast<NSUInteger>(layer.rows * layer.outputs) * sizeof(float));
  @autoreleasepool {
    MPSGraph* const graph = [[[MPSGraph alloc] init] autorelease];
    const auto placeholder = [graph](std::span<const int64_t> sizes) {
      return [graph placeholderWithShape:shape(sizes) dataType:MPSDataTypeFloat32 name:nil];
    };
    MPSGraphTensor* const input = placeholder(x);
    MPSGraphTensor* const parameters = placeholder(weight);
    MPSGraphTensor* const addend = placeholder(bias);
    MPSGraphTensor* const transposed = [graph transposeTensor:parameters
                                                    dimension:0
                                                withDimension:1
                                                         name:nil];
    MPSGraphTensor* const product = [graph matrixMultiplicationWithPrimaryTensor:input
                                                                 secondaryTensor:transposed
                                                                            name:nil];
    MPSGraphTensor* const sum = [graph additionWithPrimaryTensor:product
                                                 secondaryTensor:addend
                                                            name:nil];
    [graph encodeToCommandBuffer:commands
                           feeds:@{
                             input : data_of(floats(layer.x), x),
                             parameters : data_of(floats(layer.weight), weight),
                             addend : data_of(floats(layer.bias), bias)
                           }
                targetOperations:nil
               resultsDictionary:@{sum : data_of(result, out)}
             executionDescriptor:nil];
  }
  return result;
}

}  // namespace mpsprobe::sim::face
