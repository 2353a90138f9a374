#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <array>

#include "scenarios/sim/face/testdata/workbench.h"

namespace mpsprobe::metal_rules {
namespace {

constexpr std::array<float, 2> kLeft = {1, -2};
constexpr std::array<float, 2> kRight = {3, 4};
constexpr std::array<float, 2> kSum = {4, 2};

MPSGraphTensorData* data_in(id<MTLBuffer> buffer) {
  return [[[MPSGraphTensorData alloc] initWithMTLBuffer:buffer
                                                  shape:@[ @2 ]
                                               dataType:MPSDataTypeFloat32] autorelease];
}

/// The sum of two placeholders, of which the second is fed only where told.
void encode_sum(MPSCommandBuffer* commands, id<MTLBuffer> result, bool feed_both) {
  MPSGraph* const graph = [[[MPSGraph alloc] init] autorelease];
  MPSGraphTensor* const left = [graph placeholderWithShape:@[ @2 ]
                                                  dataType:MPSDataTypeFloat32
                                                      name:nil];
  MPSGraphTensor* const right = [graph placeholderWithShape:@[ @2 ]
                                                   dataType:MPSDataTypeFloat32
                                                       name:nil];
  MPSGraphTensor* const sum = [graph additionWithPrimaryTensor:left secondaryTensor:right name:nil];
  NSMutableDictionary* const feeds = [NSMutableDictionary dictionary];
  [feeds setObject:data_in(floats(kLeft)) forKey:left];
  if (feed_both) [feeds setObject:data_in(floats(kRight)) forKey:right];
  [graph encodeToCommandBuffer:commands
                         feeds:feeds
              targetOperations:nil
             resultsDictionary:@{sum : data_in(result)}
           executionDescriptor:nil];
}

void leave_a_placeholder_unfed() {
  encode_sum([MPSCommandBuffer commandBufferFromCommandQueue:new_queue()], bytes(sizeof(kSum)),
             false);
}

std::string feed_every_placeholder() {
  MPSCommandBuffer* const commands = [MPSCommandBuffer commandBufferFromCommandQueue:new_queue()];
  const id<MTLBuffer> result = bytes(sizeof(kSum));
  encode_sum(commands, result, true);
  return either(run(commands), holds(result, 0, kSum));
}

constexpr Rule kRules[] = {
    {"unfed-placeholder", "encodes a graph without the data of a placeholder",
     "feeds has tensor data for every placeholder that the results depend on",
     "https://developer.apple.com/documentation/metalperformanceshadersgraph/mpsgraph", false,
     "-[MPSGraph simulated]: failed assertion `no tensor data for a placeholder that the target "
     "depends on'",
     leave_a_placeholder_unfed, feed_every_placeholder},
};

}  // namespace

std::span<const Rule> graph_rules() { return kRules; }

}  // namespace mpsprobe::metal_rules
