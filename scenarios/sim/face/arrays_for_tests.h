#pragma once

#import <Metal/Metal.h>
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>
#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <cstdint>
#include <span>
#include <vector>

/// Arrays, and a linear layer with and without a graph, for the tests of the face. What is returned
/// is autoreleased.
namespace mpsprobe::sim::face {

/// `count` numbers between -1 and 1, the same for the same seed.
std::vector<float> some_numbers(size_t count, uint32_t seed);

std::vector<float> numbers_of(id<MTLBuffer> buffer);

MPSShape* shape(std::span<const int64_t> sizes);
MPSNDArray* array_of(id<MTLBuffer> buffer, std::span<const int64_t> sizes, bool transposed = false);
MPSGraphTensorData* data_of(id<MTLBuffer> buffer, std::span<const int64_t> sizes);

/// A linear layer: `rows` inputs of `inputs` numbers, a weight of outputs x inputs, a bias.
struct Layer {
  int64_t rows = 3;
  int64_t inputs = 5;
  int64_t outputs = 4;
  std::vector<float> x = some_numbers(15, 1);
  std::vector<float> weight = some_numbers(20, 2);
  std::vector<float> bias = some_numbers(4, 3);

  /// x times the transposed weight, plus the bias in each row, summed in double.
  std::vector<double> result() const;
};

/// Encodes the layer with a kernel of its own; returns the buffer that its result will be in.
id<MTLBuffer> encode_by_kernel(const Layer& layer, id<MTLCommandBuffer> commands);
/// The same with a graph of its own, which nothing but the encoded work keeps.
id<MTLBuffer> encode_by_graph(const Layer& layer, MPSCommandBuffer* commands);

}  // namespace mpsprobe::sim::face
