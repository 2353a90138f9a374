#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "scenarios/objective_c/owned.h"
#include "scenarios/sim/face/graph_body.h"
#include "scenarios/sim/face/objects.h"

using mpsprobe::sim::EncodePath;
using mpsprobe::sim::face::elements;
using mpsprobe::sim::face::encode_work;
using mpsprobe::sim::face::GraphBody;
using mpsprobe::sim::face::Node;
using mpsprobe::Owned;
using mpsprobe::sim::face::Sizes;
namespace metal = mpsprobe::sim::metal;

namespace {

/// The simulated halves of the classes below.
const Node& node_of(MPSGraphTensor* tensor) {
  return *static_cast<const Node*>(tensor->simulated_);  // the graph's
}

struct DataHalf {
  id<MTLBuffer> buffer;
  Sizes sizes;
};
DataHalf& half_of(MPSGraphTensorData* data) { return *static_cast<DataHalf*>(data->simulated_); }

struct RandomHalf {
  float mean = 0;
  float deviation = 1;
};
RandomHalf& half_of(MPSGraphRandomOpDescriptor* descriptor) {
  return *static_cast<RandomHalf*>(descriptor->simulated_);
}

/// Shared with work that was encoded: the graph may be released before it is executed.
using Body = std::shared_ptr<GraphBody>;
Body& body_of(MPSGraph* graph) { return *static_cast<Body*>(graph->simulated_); }

Sizes sizes_of(MPSShape* shape) {
  Sizes sizes;
  for (NSUInteger i = 0; i < [shape count]; ++i) {
    sizes.push_back([[shape objectAtIndex:i] integerValue]);
  }
  return sizes;
}

[[noreturn]] void refuse(const char* what) {
  metal::fail_assertion("-[MPSGraph simulated]", 0, what);
}

void require_shape_of(MPSGraphTensor* tensor, MPSGraphTensorData* data) {
  if (half_of(data).sizes != node_of(tensor).sizes) {
    refuse("tensor data of another shape than its tensor");
  }
}

void require_float32(MPSDataType type) {
  if (type != MPSDataTypeFloat32) refuse("the simulated device has float32 alone");
}

}  // namespace

@implementation MPSGraphObject
@end

@implementation MPSGraphTensor
- (id)initWithNode:(const Node&)node {
  if ((self = [super init]) != nil) simulated_ = const_cast<Node*>(&node);
  return self;
}
- (id)copyWithZone:(NSZone*)zone {
  (void)zone;
  return [self retain];  // immutable
}
@end

@implementation MPSGraphTensorData
- (instancetype)initWithMTLBuffer:(id<MTLBuffer>)buffer
                            shape:(MPSShape*)shape
                         dataType:(MPSDataType)dataType {
  require_float32(dataType);
  if ((self = [super init]) != nil) {
    auto* const half = new DataHalf{[buffer retain], sizes_of(shape)};
    simulated_ = half;
    if (static_cast<size_t>(elements(half->sizes)) * sizeof(float) > [buffer length]) {
      refuse("MPSGraphTensorData: the buffer is smaller than the shape");
    }
  }
  return self;
}
- (void)dealloc {
  [half_of(self).buffer release];
  delete &half_of(self);
  [super dealloc];
}
@end

@implementation MPSGraphExecutionDescriptor
@end

@implementation MPSGraphOperation
@end

@implementation MPSGraphRandomOpDescriptor
+ (instancetype)descriptorWithDistribution:(MPSGraphRandomDistribution)distribution
                                  dataType:(MPSDataType)dataType {
  require_float32(dataType);
  if (distribution != MPSGraphRandomDistributionNormal) {
    refuse("the simulated device has the normal distribution alone");
  }
  MPSGraphRandomOpDescriptor* const descriptor = [[[self alloc] init] autorelease];
  descriptor->simulated_ = new RandomHalf;
  return descriptor;
}
- (void)dealloc {
  delete &half_of(self);
  [super dealloc];
}
- (float)mean {
  return half_of(self).mean;
}
- (void)setMean:(float)mean {
  half_of(self).mean = mean;
}
- (float)standardDeviation {
  return half_of(self).deviation;
}
- (void)setStandardDeviation:(float)deviation {
  half_of(self).deviation = deviation;
}
@end

@implementation MPSGraph
- (instancetype)init {
  if ((self = [super init]) != nil) simulated_ = new Body(std::make_shared<GraphBody>());
  return self;
}
- (void)dealloc {
  delete &body_of(self);
  [super dealloc];
}
- (MPSGraphTensor*)simulatedTensor:(Node)node {
  return [[[MPSGraphTensor alloc] initWithNode:body_of(self)->add(std::move(node))] autorelease];
}
- (MPSGraphTensor*)placeholderWithShape:(MPSShape*)shape
                               dataType:(MPSDataType)dataType
                                   name:(NSString*)name {
  (void)name;
  require_float32(dataType);
  return [self simulatedTensor:{.kind = Node::Kind::placeholder, .sizes = sizes_of(shape)}];
}
- (MPSGraphTensor*)matrixMultiplicationWithPrimaryTensor:(MPSGraphTensor*)primaryTensor
                                         secondaryTensor:(MPSGraphTensor*)secondaryTensor
                                                    name:(NSString*)name {
  (void)name;
  return [self simulatedTensor:{.kind = Node::Kind::product,
                                .inputs = {&node_of(primaryTensor), &node_of(secondaryTensor)}}];
}
- (MPSGraphTensor*)transposeTensor:(MPSGraphTensor*)tensor
                         dimension:(NSUInteger)dimensionIndex
                     withDimension:(NSUInteger)dimensionIndex2
                              name:(NSString*)name {
  (void)name;
  if (std::max(dimensionIndex, dimensionIndex2) != 1 || dimensionIndex == dimensionIndex2) {
    refuse("the simulated device transposes matrices alone");
  }
  return [self simulatedTensor:{.kind = Node::Kind::transpose, .inputs = {&node_of(tensor)}}];
}
- (MPSGraphTensor*)additionWithPrimaryTensor:(MPSGraphTensor*)primaryTensor
                             secondaryTensor:(MPSGraphTensor*)secondaryTensor
                                        name:(NSString*)name {
  (void)name;
  return [self simulatedTensor:{.kind = Node::Kind::addition,
                                .inputs = {&node_of(primaryTensor), &node_of(secondaryTensor)}}];
}
- (MPSGraphTensor*)reLUWithTensor:(MPSGraphTensor*)tensor name:(NSString*)name {
  (void)name;
  return [self simulatedTensor:{.kind = Node::Kind::relu, .inputs = {&node_of(tensor)}}];
}
- (MPSGraphTensor*)softMaxWithTensor:(MPSGraphTensor*)tensor
                                axis:(NSInteger)axis
                                name:(NSString*)name {
  (void)name;
  const auto last = static_cast<NSInteger>(node_of(tensor).sizes.size()) - 1;
  if (axis != -1 && axis != last) refuse("the simulated device has softmax on the last axis alone");
  return [self simulatedTensor:{.kind = Node::Kind::softmax, .inputs = {&node_of(tensor)}}];
}
- (MPSGraphTensor*)randomTensorWithShape:(MPSShape*)shape
                              descriptor:(MPSGraphRandomOpDescriptor*)descriptor
                                    seed:(NSUInteger)seed
                                    name:(NSString*)name {
  (void)name;
  return [self simulatedTensor:{.kind = Node::Kind::normal,
                                .sizes = sizes_of(shape),
                                .mean = [descriptor mean],
                                .deviation = [descriptor standardDeviation],
                                .seed = seed}];
}
- (void)encodeToCommandBuffer:(MPSCommandBuffer*)commandBuffer
                        feeds:(MPSGraphTensorDataDictionary*)feeds
             targetOperations:(NSArray<MPSGraphOperation*>*)targetOperations
            resultsDictionary:(MPSGraphTensorDataDictionary*)resultsDictionary
          executionDescriptor:(MPSGraphExecutionDescriptor*)executionDescriptor {
  (void)targetOperations;
  (void)executionDescriptor;
  using Data = Owned<MPSGraphTensorData*>;
  std::map<const Node*, Data> given;
  for (MPSGraphTensor* tensor in feeds) {
    const Data data = Data::retain([feeds objectForKey:tensor]);
    require_shape_of(tensor, data.get());
    given.emplace(&node_of(tensor), data);
  }
  [commandBuffer makeRoomForGraph];
  auto* const root = (SimulatedCommandBuffer*)[commandBuffer rootCommandBuffer];
  for (MPSGraphTensor* tensor in resultsDictionary) {
    const Node& result = node_of(tensor);
    for (const Node* placeholder : placeholders_of(result)) {
      if (!given.contains(placeholder)) {
        refuse("no tensor data for a placeholder that the target depends on");
      }
    }
    const Data out = Data::retain([resultsDictionary objectForKey:tensor]);
    require_shape_of(tensor, out.get());
    encode_work(root, nil, operation_of(result), EncodePath::graph,
                [body = body_of(self), &result, given, out](bool wrong) {
                  using mpsprobe::sim::face::numbers_in;
                  mpsprobe::sim::face::Feeds numbers;
                  for (const auto& [node, data] : given) {
                    numbers[node] = numbers_in(half_of(data.get()).buffer, 0,
                                               static_cast<size_t>(elements(node->sizes)));
                  }
                  const std::vector<float> computed = evaluate(result, numbers);
                  const std::span<float> target =
                      numbers_in(half_of(out.get()).buffer, 0, computed.size());
                  std::copy(computed.begin(), computed.end(), target.begin());
                  if (wrong) mpsprobe::sim::face::overwrite(target);
                });
  }
}
@end
