#include "scenarios/sim/face/pipeline.h"

#include <atomic>
#include <stdexcept>

using namespace mpsprobe::sim::face;

namespace {

std::atomic<FindShader> more = nullptr;

}  // namespace

@implementation SimulatedLibrary
- (id)initWithMoreOf:(NSString*)source {
  if (more.load() == nullptr) {
    [self release];
    return nil;
  }
  if ((self = [super init]) != nil) source_ = [source copy];
  return self;
}
MPSPROBE_METHOD(id<MTLDevice>, device, [MTLCreateSystemDefaultDevice() autorelease])
- (NSArray<NSString*>*)functionNames {
  NSMutableArray* const names = [NSMutableArray array];
  if (functions_ == nullptr) return names;
  for (const ShaderFunction& each : *functions_)
    [names addObject:[NSString stringWithUTF8String:each.name.c_str()]];
  return names;
}
- (id)initWithSource:(NSString*)source {
  if ((self = [super init]) != nil) {
    functions_ = new std::vector<ShaderFunction>(functions_of([source UTF8String]));
  }
  return self;
}
- (void)dealloc {
  [source_ release];
  delete functions_;
  [super dealloc];
}
- (id<MTLFunction>)newFunctionWithName:(NSString*)functionName {
  if (source_ != nil) {
    SimulatedFunction* const function =
        [[SimulatedFunction alloc] initWithFunction:{.name = [functionName UTF8String]}];
    function->shader_ = more.load()([functionName UTF8String], [source_ UTF8String]);
    if (function->shader_ != nullptr) return function;
    [function release];
    throw std::runtime_error("SIMULATED: the simulated Metal has no kernel " +
                             std::string([functionName UTF8String]));
  }
  for (const ShaderFunction& each : *functions_) {
    if (each.name == [functionName UTF8String]) {
      return [[SimulatedFunction alloc] initWithFunction:each];
    }
  }
  return nil;
}
@end

@implementation SimulatedFunction
- (id)initWithFunction:(const ShaderFunction&)function {
  if ((self = [super init]) != nil) {
    function_ = new ShaderFunction(function);
    shader_ = find_shader(function.name);
  }
  return self;
}
- (void)dealloc {
  delete function_;
  [super dealloc];
}
- (id<MTLArgumentEncoder>)newArgumentEncoderWithBufferIndex:(NSUInteger)bufferIndex {
  throw std::runtime_error("SIMULATED: the simulated Metal has no argument buffers");
}
MPSPROBE_METHOD(NSString*, name, [NSString stringWithUTF8String:function_->name.c_str()])
@end

@implementation SimulatedPipeline
- (id)initWithFunction:(SimulatedFunction*)function {
  if ((self = [super init]) != nil) function_ = [function retain];
  return self;
}
- (void)dealloc {
  [function_ release];
  [super dealloc];
}
MPSPROBE_METHOD(NSUInteger, maxTotalThreadsPerThreadgroup, 1024)
MPSPROBE_METHOD(NSUInteger, threadExecutionWidth, 32)
MPSPROBE_METHOD(NSUInteger, staticThreadgroupMemoryLength, 0)
@end

namespace mpsprobe::sim::face {

void find_more_shaders(FindShader find) { more.store(find); }

}  // namespace mpsprobe::sim::face
