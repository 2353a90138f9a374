#include "scenarios/sim/face/pipeline.h"

using mpsprobe::sim::face::find_shader;
using mpsprobe::sim::face::functions_of;
using mpsprobe::sim::face::ShaderFunction;

@implementation SimulatedLibrary
- (id)initWithSource:(NSString*)source {
  if ((self = [super init]) != nil) {
    functions_ = new std::vector<ShaderFunction>(functions_of([source UTF8String]));
  }
  return self;
}
- (void)dealloc {
  delete functions_;
  [super dealloc];
}
- (id<MTLFunction>)newFunctionWithName:(NSString*)functionName {
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
- (NSString*)name {
  return [NSString stringWithUTF8String:function_->name.c_str()];
}
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
- (NSUInteger)maxTotalThreadsPerThreadgroup {
  return 1024;
}
@end
