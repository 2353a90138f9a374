#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>
#include <objc/runtime.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/objective_c/owned.h"
#include "scenarios/sim/face/graph_body.h"
#include "scenarios/sim/face/ndarray.h"
#include "scenarios/sim/face/objects.h"

using mpsprobe::Owned;
using namespace mpsprobe::sim;
using namespace mpsprobe::sim::face;

namespace {

/// The simulated halves of the classes below.
const Node& node_of(MPSGraphTensor* tensor) {
  return *static_cast<const Node*>(tensor->simulated_);  // the graph's
}

Placed& half_of(MPSGraphTensorData* data) { return *static_cast<Placed*>(data->simulated_); }

struct RandomHalf {
  bool normal = true;
  uint32_t type = MPSDataTypeFloat32;
  double low = 0;
  double high = 1;
  float mean = 0;
  float deviation = 1;
};
RandomHalf& half_of(MPSGraphRandomOpDescriptor* descriptor) {
  return *static_cast<RandomHalf*>(descriptor->simulated_);
}

/// Shared with work that was encoded: the graph may be released before it is executed.
using Body = std::shared_ptr<GraphBody>;
struct GraphHalf {
  Body body = std::make_shared<GraphBody>();
  NSMutableArray* tensors = [[NSMutableArray alloc] init];  // the graph's, as long as it lives
};
GraphHalf& half_of(MPSGraph* graph) { return *static_cast<GraphHalf*>(graph->simulated_); }
Body& body_of(MPSGraph* graph) { return half_of(graph).body; }

Sizes numbers_of(NSArray<NSNumber*>* numbers) {
  Sizes sizes;
  for (NSUInteger i = 0; i < [numbers count]; ++i) {
    sizes.push_back([[numbers objectAtIndex:i] integerValue]);
  }
  return sizes;
}

[[noreturn]] void refuse(const char* what) {
  metal::fail_assertion("-[MPSGraph simulated]", 0, what);
}

/// A placeholder of one number takes any shape of one.
void require_shape_of(MPSGraphTensor* tensor, MPSGraphTensorData* data) {
  const auto& sizes = node_of(tensor).sizes;
  const Sizes given = sizes_of(half_of(data));
  if (sizes && *sizes != given && (elements(*sizes) != 1 || elements(given) != 1)) {
    refuse("tensor data of another shape than its tensor");
  }
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
  return [self retain];  // immutable
}
- (MPSShape*)shape {
  if (!node_of(self).sizes) return nil;
  NSMutableArray* const shape = [NSMutableArray array];
  for (const int64_t size : *node_of(self).sizes)
    [shape addObject:[NSNumber numberWithInteger:size]];
  return shape;
}
MPSPROBE_METHOD(MPSDataType, dataType, static_cast<MPSDataType>(node_of(self).type))
@end

@implementation MPSGraphTensorData
- (instancetype)initWithMTLBuffer:(id<MTLBuffer>)buffer
                            shape:(MPSShape*)shape
                         dataType:(MPSDataType)dataType {
  if ((self = [super init]) != nil) {
    auto* const half = new Placed{[buffer retain], 0, packed(dataType, shape)};
    simulated_ = half;
    if (static_cast<size_t>(half->layout.elements()) * bytes_of(dataType) > [buffer length]) {
      refuse("MPSGraphTensorData: the buffer is smaller than the shape");
    }
  }
  return self;
}
- (instancetype)initWithMPSNDArray:(MPSNDArray*)ndarray {
  if ((self = [super init]) != nil) {
    simulated_ = new Placed(placed_of(ndarray));
    [half_of(self).buffer retain];
  }
  return self;
}
- (void)dealloc {
  [half_of(self).buffer release];
  delete &half_of(self);
  [super dealloc];
}
@end

@implementation MPSGraphOperation
@end

@implementation MPSGraphRandomOpDescriptor
+ (instancetype)descriptorWithDistribution:(MPSGraphRandomDistribution)distribution
                                  dataType:(MPSDataType)dataType {
  MPSGraphRandomOpDescriptor* const descriptor = [[[self alloc] init] autorelease];
  descriptor->simulated_ =
      new RandomHalf{.normal = distribution == MPSGraphRandomDistributionNormal, .type = dataType};
  return descriptor;
}
- (void)dealloc {
  delete &half_of(self);
  [super dealloc];
}
#define MPSPROBE_NUMBER(Type, name, setter, member) \
  -(Type)name {                                     \
    return static_cast<Type>(half_of(self).member); \
  }                                                 \
  -(void)setter : (Type)number {                    \
    half_of(self).member = number;                  \
  }
MPSPROBE_NUMBER(float, mean, setMean, mean)
MPSPROBE_NUMBER(float, standardDeviation, setStandardDeviation, deviation)
MPSPROBE_NUMBER(float, min, setMin, low)
MPSPROBE_NUMBER(float, max, setMax, high)
MPSPROBE_NUMBER(NSInteger, minInteger, setMinInteger, low)
MPSPROBE_NUMBER(NSInteger, maxInteger, setMaxInteger, high)
@end

@interface MPSGraph (Simulated)
- (MPSGraphTensor*)simulated:(const char*)operation
                          of:(std::vector<MPSGraphTensor*>)inputs
                        type:(uint32_t)type
                     compute:(std::function<Array(Arrays)>)compute;
@end

namespace {

/// Methods that differ in what they compute alone: the table has the row of each name.
template <typename Row>
const Row& row_of(SEL selector, std::span<const Row> rows, const char* Row::*name) {
  return *std::find_if(rows.begin(), rows.end(), [&](const Row& each) {
    return std::strncmp(each.*name, sel_getName(selector), std::strlen(each.*name)) == 0;
  });
}

id any_elementwise(MPSGraph* graph, SEL selector, std::vector<MPSGraphTensor*> inputs) {
  const Elementwise& row = row_of(selector, elementwise(), &Elementwise::selector);
  const std::string name = row.selector;
  const uint32_t type = row.is_truth ? uint32_t{MPSDataTypeBool} : [inputs.back() dataType];
  return [graph simulated:name.substr(0, name.find("With")).c_str()
                       of:inputs
                     type:type
                  compute:[of = row.of](Arrays all) { return each_element(all, of); }];
}
id of_one(MPSGraph* graph, SEL selector, MPSGraphTensor* a, NSString*) {
  return any_elementwise(graph, selector, {a});
}
id of_two(MPSGraph* graph, SEL selector, MPSGraphTensor* a, MPSGraphTensor* b, NSString*) {
  return any_elementwise(graph, selector, {a, b});
}
id of_three(MPSGraph* graph, SEL selector, MPSGraphTensor* a, MPSGraphTensor* b, MPSGraphTensor* c,
            NSString*) {
  return any_elementwise(graph, selector, {a, b, c});
}

id reduction(MPSGraph* graph, SEL selector, MPSGraphTensor* tensor, Sizes axes) {
  const Reduction& row = row_of(selector, reductions(), &Reduction::name);
  return [graph simulated:row.name
                       of:{tensor}
                     type:[tensor dataType]
                  compute:[of = row.of, axes = std::move(axes)](Arrays all) {
                    return reduce(*all[0], axes, of);
                  }];
}
id along_axis(MPSGraph* graph, SEL selector, MPSGraphTensor* tensor, NSInteger axis, NSString*) {
  return reduction(graph, selector, tensor, {axis});
}
id along_axes(MPSGraph* graph, SEL selector, MPSGraphTensor* tensor, NSArray<NSNumber*>* axes,
              NSString*) {
  return reduction(graph, selector, tensor, numbers_of(axes));
}

id unknown(MPSGraph*, SEL selector, ...) {
  throw std::runtime_error("SIMULATED: the simulated MPSGraph has no " +
                           std::string(sel_getName(selector)));
}

/// Numbers of a distribution, the same for the same seed.
Array random_array(const Sizes& sizes, const RandomHalf& how, uint64_t seed) {
  Array array{sizes, std::vector<double>(static_cast<size_t>(elements(sizes)))};
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal(how.mean, how.deviation);
  std::uniform_real_distribution<double> uniform(how.low, how.high);
  const bool whole = (how.type & MPSDataTypeFloatBit) == 0;
  for (double& each : array.numbers) {
    each = how.normal ? normal(generator) : uniform(generator);
    if (whole) each = std::floor(each);
  }
  return array;
}

}  // namespace

@implementation MPSGraph
// Before anything looks at the class: an observer replaces the methods that it has.
+ (void)load {
  for (const Elementwise& each : elementwise()) {
    const auto inputs =
        std::count(each.selector, each.selector + std::strlen(each.selector), ':') - 1;
    const struct {
      IMP method;
      const char* types;
    } kWith[] = {{(IMP)of_one, "@@:@@"}, {(IMP)of_two, "@@:@@@"}, {(IMP)of_three, "@@:@@@@"}};
    const auto& with = kWith[inputs - 1];
    class_addMethod(self, sel_registerName(each.selector), with.method, with.types);
  }
  for (const Reduction& each : reductions()) {
    const std::string name = each.name;
    class_addMethod(self, sel_registerName((name + ":axis:name:").c_str()), (IMP)along_axis,
                    "@@:@q@");
    class_addMethod(self, sel_registerName((name + ":axes:name:").c_str()), (IMP)along_axes,
                    "@@:@@@");
  }
}
+ (BOOL)resolveInstanceMethod:(SEL)selector {
  // What begins otherwise is asked by Foundation.
  if (std::strstr(sel_getName(selector), ":name:") == nullptr &&
      std::strstr(sel_getName(selector), "ensor") == nullptr)
    return NO;
  class_addMethod(self, selector, (IMP)unknown, "@@:");
  return YES;
}
- (instancetype)init {
  if ((self = [super init]) != nil) simulated_ = new GraphHalf;
  return self;
}
- (void)dealloc {
  [half_of(self).tensors release];
  delete &half_of(self);
  [super dealloc];
}
- (MPSGraphTensor*)simulatedTensor:(Node)node {
  MPSGraphTensor* const tensor =
      [[[MPSGraphTensor alloc] initWithNode:body_of(self)->add(std::move(node))] autorelease];
  [half_of(self).tensors addObject:tensor];
  return tensor;
}
- (MPSGraphTensor*)simulated:(const char*)operation
                          of:(std::vector<MPSGraphTensor*>)inputs
                        type:(uint32_t)type
                     compute:(std::function<Array(Arrays)>)compute {
  Node node{.operation = operation, .type = type, .compute = std::move(compute)};
  for (MPSGraphTensor* const each : inputs) node.inputs.push_back(&node_of(each));
  return [self simulatedTensor:std::move(node)];
}
- (MPSGraphTensor*)placeholderWithShape:(MPSShape*)shape
                               dataType:(MPSDataType)dataType
                                   name:(NSString*)name {
  Node node{.operation = "placeholder", .type = dataType};
  if (shape != nil) node.sizes = numbers_of(shape);
  return [self simulatedTensor:std::move(node)];
}
- (MPSGraphTensor*)simulatedConstant:(Array)array type:(MPSDataType)type {
  return [self simulated:"constant"
      of:{}
      type:type
      compute:[array = std::move(array)](Arrays) { return array; }];
}
- (MPSGraphTensor*)constantWithScalar:(double)scalar dataType:(MPSDataType)dataType {
  return [self constantWithScalar:scalar shape:@[ @1 ] dataType:dataType];
}
- (MPSGraphTensor*)constantWithScalar:(double)scalar
                                shape:(MPSShape*)shape
                             dataType:(MPSDataType)dataType {
  const Sizes sizes = numbers_of(shape);
  return [self
      simulatedConstant:{sizes, std::vector<double>(static_cast<size_t>(elements(sizes)), scalar)}
                   type:dataType];
}
- (MPSGraphTensor*)constantWithData:(NSData*)data
                              shape:(MPSShape*)shape
                           dataType:(MPSDataType)dataType {
  Array array{numbers_of(shape), {}};
  for (int64_t i = 0; i < elements(array.sizes); ++i) {
    array.numbers.push_back(
        load(static_cast<const char*>([data bytes]) + static_cast<size_t>(i) * bytes_of(dataType),
             dataType));
  }
  return [self simulatedConstant:std::move(array) type:dataType];
}
- (MPSGraphTensor*)castTensor:(MPSGraphTensor*)tensor
                       toType:(MPSDataType)type
                         name:(NSString*)name {
  return [self simulated:"cast" of:{tensor} type:type compute:[](Arrays all) { return *all[0]; }];
}
- (MPSGraphTensor*)matrixMultiplicationWithPrimaryTensor:(MPSGraphTensor*)primaryTensor
                                         secondaryTensor:(MPSGraphTensor*)secondaryTensor
                                                    name:(NSString*)name {
  return [self simulated:"matrixMultiplication"
                      of:{primaryTensor, secondaryTensor}
                    type:[primaryTensor dataType]
                 compute:[](Arrays all) { return multiply(*all[0], *all[1]); }];
}
- (MPSGraphTensor*)transposeTensor:(MPSGraphTensor*)tensor
                         dimension:(NSUInteger)dimensionIndex
                     withDimension:(NSUInteger)dimensionIndex2
                              name:(NSString*)name {
  return [self simulated:"transpose"
                      of:{tensor}
                    type:[tensor dataType]
                 compute:[=](Arrays all) {
                   Sizes order(all[0]->sizes.size());
                   for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
                   std::swap(order[axis_of(static_cast<int64_t>(dimensionIndex), order.size())],
                             order[axis_of(static_cast<int64_t>(dimensionIndex2), order.size())]);
                   return permute(*all[0], order);
                 }];
}
- (MPSGraphTensor*)reshapeTensor:(MPSGraphTensor*)tensor
                       withShape:(MPSShape*)shape
                            name:(NSString*)name {
  return
      [self simulated:"reshape"
                   of:{tensor}
                 type:[tensor dataType]
              compute:[sizes = numbers_of(shape)](Arrays all) { return reshape(*all[0], sizes); }];
}
- (MPSGraphTensor*)flatten2DTensor:(MPSGraphTensor*)tensor
                              axis:(NSInteger)axis
                              name:(NSString*)name {
  return [self simulated:"reshape"
                      of:{tensor}
                    type:[tensor dataType]
                 compute:[axis](Arrays all) {
                   const Sizes& sizes = all[0]->sizes;
                   const auto first =
                       sizes.begin() + static_cast<int64_t>(axis_of(axis, sizes.size()));
                   return reshape(
                       *all[0], {elements({sizes.begin(), first}), elements({first, sizes.end()})});
                 }];
}
- (MPSGraphTensor*)broadcastTensor:(MPSGraphTensor*)tensor
                           toShape:(MPSShape*)shape
                              name:(NSString*)name {
  return [self
      simulated:"broadcast"
             of:{tensor}
           type:[tensor dataType]
        compute:[sizes = numbers_of(shape)](Arrays all) {
          const Array to{sizes, all[0]->numbers.empty()
                                    ? std::vector<double>()
                                    : std::vector<double>(static_cast<size_t>(elements(sizes)))};
          const Array* const both[] = {all[0], &to};
          return each_element(both, [](const double* x) { return x[0]; });
        }];
}
- (MPSGraphTensor*)coordinateAlongAxis:(NSInteger)axis
                       withShapeTensor:(MPSGraphTensor*)shape
                                  name:(NSString*)name {
  const Array sizes = evaluate(node_of(shape), {});
  return [self simulatedConstant:coordinates({sizes.numbers.begin(), sizes.numbers.end()}, axis)
                            type:MPSDataTypeInt32];
}
- (MPSGraphTensor*)cumulativeSumWithTensor:(MPSGraphTensor*)tensor
                                      axis:(NSInteger)axis
                                      name:(NSString*)name {
  return unknown(self, _cmd);  // PyTorch asks only whether it is there
}
- (MPSGraphTensor*)softMaxWithTensor:(MPSGraphTensor*)tensor
                                axis:(NSInteger)axis
                                name:(NSString*)name {
  MPSGraphTensor* const highest =
      along_axis(self, sel_registerName("reductionMaximumWithTensor"), tensor, axis, name);
  MPSGraphTensor* const shifted = of_two(
      self, @selector(subtractionWithPrimaryTensor:secondaryTensor:name:), tensor, highest, name);
  MPSGraphTensor* const powers = of_one(self, @selector(exponentWithTensor:name:), shifted, name);
  MPSGraphTensor* const sums =
      along_axis(self, sel_registerName("reductionSumWithTensor"), powers, axis, name);
  return [self simulated:"softMax"
                      of:{powers, sums}
                    type:[tensor dataType]
                 compute:[](Arrays all) {
                   return each_element(all, [](const double* x) { return x[0] / x[1]; });
                 }];
}
- (MPSGraphTensor*)normalizationWithTensor:(MPSGraphTensor*)tensor
                                meanTensor:(MPSGraphTensor*)mean
                            varianceTensor:(MPSGraphTensor*)variance
                               gammaTensor:(MPSGraphTensor*)gamma
                                betaTensor:(MPSGraphTensor*)beta
                                   epsilon:(float)epsilon
                                      name:(NSString*)name {
  const SEL add = @selector(additionWithPrimaryTensor:secondaryTensor:name:);
  const SEL multiply = @selector(multiplicationWithPrimaryTensor:secondaryTensor:name:);
  MPSGraphTensor* const more = of_two(
      self, add, variance, [self constantWithScalar:epsilon dataType:[variance dataType]], name);
  MPSGraphTensor* const centred = of_two(
      self, @selector(subtractionWithPrimaryTensor:secondaryTensor:name:), tensor, mean, name);
  MPSGraphTensor* result =
      of_two(self, multiply, centred,
             of_one(self, @selector(reverseSquareRootWithTensor:name:), more, name), name);
  if (gamma != nil) result = of_two(self, multiply, result, gamma, name);
  return beta == nil ? result : of_two(self, add, result, beta, name);
}
- (MPSGraphTensor*)randomTensorWithShape:(MPSShape*)shape
                              descriptor:(MPSGraphRandomOpDescriptor*)descriptor
                                    seed:(NSUInteger)seed
                                    name:(NSString*)name {
  const RandomHalf how = half_of(descriptor);
  return [self simulated:"random"
      of:{}
      type:how.type
      compute:[sizes = numbers_of(shape), how, seed](Arrays) {
        return random_array(sizes, how, seed);
      }];
}
- (NSArray<MPSGraphTensor*>*)randomTensorWithShape:(MPSShape*)shape
                                        descriptor:(MPSGraphRandomOpDescriptor*)descriptor
                                       stateTensor:(MPSGraphTensor*)state
                                              name:(NSString*)name {
  const RandomHalf how = half_of(descriptor);
  MPSGraphTensor* const numbers = [self
      simulated:"random"
             of:{state}
           type:how.type
        compute:[sizes = numbers_of(shape), how](Arrays all) {
          uint64_t seed = 0;
          for (const double each : all[0]->numbers)
            seed = seed * 6364136223846793005U + static_cast<uint64_t>(static_cast<int64_t>(each));
          return random_array(sizes, how, seed);
        }];
  return [NSArray arrayWithObjects:numbers, state, nil];
}
- (void)encodeToCommandBuffer:(MPSCommandBuffer*)commandBuffer
                        feeds:(MPSGraphTensorDataDictionary*)feeds
             targetOperations:(NSArray<MPSGraphOperation*>*)targetOperations
            resultsDictionary:(MPSGraphTensorDataDictionary*)resultsDictionary
          executionDescriptor:(MPSGraphExecutionDescriptor*)executionDescriptor {
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
    if (!result.sizes || elements(*result.sizes) != 1) require_shape_of(tensor, out.get());
    encode_work(root, nil, operation_of(result), EncodePath::graph,
                [body = body_of(self), &result, given, out](bool wrong) {
                  Feeds numbers;
                  for (const auto& [node, data] : given) numbers[node] = read(half_of(data.get()));
                  write(half_of(out.get()), evaluate(result, numbers), wrong);
                });
  }
}
@end
