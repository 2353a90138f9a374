#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "scenarios/sim/face/arrays_for_tests.h"
#include "scenarios/sim/face/graph_body.h"
#include "scenarios/sim/face/testdata/workbench.h"

namespace mpsprobe::sim::face {
namespace {

using metal_rules::bytes;
using metal_rules::floats;
using metal_rules::new_command_buffer;
using metal_rules::new_queue;
using metal_rules::on_another_thread;
using metal_rules::run;

MPSCommandBuffer* mps_command_buffer() {
  return [MPSCommandBuffer commandBufferFromCommandQueue:new_queue()];
}

std::string differs(const std::vector<float>& numbers, const std::vector<double>& expected) {
  if (numbers.size() != expected.size()) return "another number of numbers";
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (std::abs(numbers[i] - expected[i]) > 1e-6) {
      return "number " + std::to_string(i) + ": " + std::to_string(numbers[i]) + " instead of " +
             std::to_string(expected[i]);
    }
  }
  return "";
}

// Each of the 65,536 comes back from its number, and a number between two goes to the nearest, at
// the middle to the even.
TEST(Numbers, HalfPrecisionIsIeees) {
  constexpr uint32_t kHalf = MPSDataTypeFloat16;
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    char bytes[2];
    std::memcpy(bytes, &half, 2);
    const double number = load(bytes, kHalf);
    if (std::isnan(number)) continue;
    store(bytes, kHalf, number);
    uint16_t again = 0;
    std::memcpy(&again, bytes, 2);
    ASSERT_EQ(again, half) << number;
  }
  const auto rounded = [](double number) {
    char bytes[2];
    store(bytes, kHalf, number);
    return load(bytes, kHalf);
  };
  EXPECT_EQ(rounded(1 + 0x1p-11), 1);
  EXPECT_EQ(rounded(1 + 0x3p-11), 1 + 0x1p-9);
  EXPECT_EQ(rounded(2049), 2048);
  EXPECT_EQ(rounded(65519), 65504);
  EXPECT_EQ(rounded(65520), INFINITY);
  EXPECT_EQ(rounded(0x1p-25), 0);
  EXPECT_EQ(rounded(0x1.8p-25), 0x1p-24);
  EXPECT_EQ(rounded(0x1.ffcp-15), 0x1p-14) << "the largest below the normal numbers, and a half";
}

using Operation = std::function<MPSGraphTensor*(MPSGraph*, MPSGraphTensor*)>;

/// The numbers of a graph that is one operation on `x`.
std::vector<float> computed(const std::vector<float>& x, const std::vector<int64_t>& sizes,
                            const Operation& operation) {
  MPSCommandBuffer* const commands = mps_command_buffer();
  MPSGraph* const graph = [[[MPSGraph alloc] init] autorelease];
  MPSGraphTensor* const input = [graph placeholderWithShape:shape(sizes)
                                                   dataType:MPSDataTypeFloat32
                                                       name:nil];
  const id<MTLBuffer> result = bytes(x.size() * sizeof(float));
  [graph encodeToCommandBuffer:commands
                         feeds:@{input : data_of(floats(x), sizes)}
              targetOperations:nil
             resultsDictionary:@{operation(graph, input) : data_of(result, sizes)}
           executionDescriptor:nil];
  EXPECT_EQ(run(commands), "");
  return numbers_of(result);
}

TEST(FaceNumbers, AKernelMultipliesByATransposedWeightAndAddsTheBias) {
  @autoreleasepool {
    const Layer layer;
    const id<MTLCommandBuffer> commands = new_command_buffer();
    const id<MTLBuffer> result = encode_by_kernel(layer, commands);
    EXPECT_EQ(numbers_of(result), std::vector<float>(12)) << "computed before commit";
    EXPECT_EQ(run(commands), "");
    EXPECT_EQ(differs(numbers_of(result), layer.result()), "");
  }
}

TEST(FaceNumbers, AGraphComputesTheSameLayerAlsoWhenItIsGone) {
  @autoreleasepool {
    const Layer layer;
    MPSCommandBuffer* const commands = mps_command_buffer();
    const id<MTLBuffer> result = encode_by_graph(layer, commands);
    EXPECT_EQ(run(commands), "");
    EXPECT_EQ(differs(numbers_of(result), layer.result()), "");
  }
}

TEST(FaceNumbers, AGraphAdds) {
  @autoreleasepool {
    const std::vector<float> x = some_numbers(6, 4);
    std::vector<double> expected(x.begin(), x.end());
    for (double& each : expected) each += each;
    EXPECT_EQ(differs(computed(x, {2, 3},
                               [](MPSGraph* graph, MPSGraphTensor* input) {
                                 return [graph additionWithPrimaryTensor:input
                                                         secondaryTensor:input
                                                                    name:nil];
                               }),
                      expected),
              "");
  }
}

TEST(FaceNumbers, AGraphCutsOffNegativeNumbers) {
  @autoreleasepool {
    EXPECT_THAT(computed({-1, 0, 2, -0.5F}, {4},
                         [](MPSGraph* graph, MPSGraphTensor* input) {
                           return [graph reLUWithTensor:input name:nil];
                         }),
                testing::ElementsAre(0, 0, 2, 0));
  }
}

TEST(FaceNumbers, SoftmaxOfEachRowAlsoOfNumbersWhoseExponentialOverflows) {
  @autoreleasepool {
    const std::vector<float> x = {1, 2, 3, 1000, 1001, 999};
    std::vector<double> expected;
    for (const auto& row : {std::array{-2.0, -1.0, 0.0}, std::array{-1.0, 0.0, -2.0}}) {
      const double sum = std::exp(row[0]) + std::exp(row[1]) + std::exp(row[2]);
      for (const double each : row) expected.push_back(std::exp(each) / sum);
    }
    EXPECT_EQ(differs(computed(x, {2, 3},
                               [](MPSGraph* graph, MPSGraphTensor* input) {
                                 return [graph softMaxWithTensor:input axis:-1 name:nil];
                               }),
                      expected),
              "");
  }
}

std::vector<float> normal_numbers(NSUInteger seed) {
  constexpr std::array<int64_t, 2> kSizes = {200, 500};
  MPSCommandBuffer* const commands = mps_command_buffer();
  MPSGraph* const graph = [[[MPSGraph alloc] init] autorelease];
  MPSGraphRandomOpDescriptor* const descriptor =
      [MPSGraphRandomOpDescriptor descriptorWithDistribution:MPSGraphRandomDistributionNormal
                                                    dataType:MPSDataTypeFloat32];
  [descriptor setMean:2];
  [descriptor setStandardDeviation:3];
  MPSGraphTensor* const tensor = [graph randomTensorWithShape:shape(kSizes)
                                                   descriptor:descriptor
                                                         seed:seed
                                                         name:nil];
  const id<MTLBuffer> result = bytes(100000 * sizeof(float));
  [graph encodeToCommandBuffer:commands
                         feeds:[NSDictionary dictionary]
              targetOperations:nil
             resultsDictionary:@{tensor : data_of(result, kSizes)}
           executionDescriptor:nil];
  EXPECT_EQ(run(commands), "");
  return numbers_of(result);
}

TEST(FaceNumbers, NormalNumbersHaveTheirMeanAndDeviationAndAreTheSeeds) {
  @autoreleasepool {
    const std::vector<float> numbers = normal_numbers(7);
    double mean = 0;
    for (const float each : numbers) mean += each / 1e5;
    double variance = 0;
    for (const float each : numbers) variance += (each - mean) * (each - mean) / 1e5;
    // Five standard errors: 3 / sqrt(1e5), and 9 * sqrt(2 / 1e5).
    EXPECT_NEAR(mean, 2, 0.05);
    EXPECT_NEAR(variance, 9, 0.21);
    EXPECT_EQ(normal_numbers(7), numbers);
    EXPECT_NE(normal_numbers(8), numbers);
  }
}

TEST(FaceNumbers, FillsAndCopiesReachTheBytesThatWereNamedAndNoOthers) {
  @autoreleasepool {
    const id<MTLBuffer> from = bytes(8);
    const id<MTLBuffer> to = bytes(8);
    const id<MTLCommandBuffer> commands = new_command_buffer();
    const id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
    [encoder fillBuffer:from range:NSMakeRange(1, 4) value:9];
    [encoder copyFromBuffer:from sourceOffset:3 toBuffer:to destinationOffset:5 size:3];
    [encoder endEncoding];
    EXPECT_EQ(run(commands), "");
    const auto content = [](id<MTLBuffer> buffer) {
      const auto* const first = static_cast<const uint8_t*>([buffer contents]);
      return std::vector<int>(first, first + [buffer length]);
    };
    EXPECT_THAT(content(from), testing::ElementsAre(0, 9, 9, 9, 9, 0, 0, 0));
    EXPECT_THAT(content(to), testing::ElementsAre(0, 0, 0, 0, 0, 9, 9, 0));
  }
}

// A queue for all, a command buffer and kernel or graph for each: what Metal allows.
TEST(FaceNumbers, ThreadsWithCommandBuffersOfTheirOwnComputeRightNumbers) {
  @autoreleasepool {
    const id<MTLCommandQueue> queue = new_queue();
    const Layer layer;
    const std::vector<double> expected = layer.result();
    std::array<std::string, 6> problems;
    std::vector<std::thread> threads;
    for (size_t t = 0; t < problems.size(); ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 25 && problems[t].empty(); ++i) {
          @autoreleasepool {
            MPSCommandBuffer* const commands =
                [MPSCommandBuffer commandBufferFromCommandQueue:queue];
            const id<MTLBuffer> by_kernel = encode_by_kernel(layer, [commands rootCommandBuffer]);
            const id<MTLBuffer> by_graph = encode_by_graph(layer, commands);
            problems[t] = run(commands) + differs(numbers_of(by_kernel), expected) +
                          differs(numbers_of(by_graph), expected);
          }
        }
      });
    }
    for (std::thread& each : threads) each.join();
    EXPECT_THAT(problems, testing::Each(""));
  }
}

}  // namespace
}  // namespace mpsprobe::sim::face
