#include <array>

#include "scenarios/sim/face/testdata/workbench.h"

namespace mpsprobe::metal_rules {
namespace {

// As in kernels.metal.
NSString* const kSource =
    @"#include <metal_stdlib>\n"
     "using namespace metal;\n"
     "kernel void add_arrays(device const float* a [[buffer(0)]],"
     " device const float* b [[buffer(1)]],"
     " device float* out [[buffer(2)]], uint i [[thread_position_in_grid]]) {\n"
     "  out[i] = a[i] + b[i];\n"
     "}\n";
constexpr std::array<float, 3> kLeft = {1, 2, 3};
constexpr std::array<float, 3> kRight = {10, 20, 30};
constexpr std::array<float, 3> kSum = {11, 22, 33};

id<MTLComputePipelineState> pipeline_of(NSString* name) {
  const id<MTLLibrary> library = [[device() newLibraryWithSource:kSource options:nil
                                                           error:nullptr] autorelease];
  const id<MTLFunction> function = [[library newFunctionWithName:name] autorelease];
  return [[device() newComputePipelineStateWithFunction:function error:nullptr] autorelease];
}

void bind(id<MTLComputeCommandEncoder> encoder, id<MTLBuffer> result) {
  [encoder setBuffer:floats(kLeft) offset:0 atIndex:0];
  [encoder setBuffer:floats(kRight) offset:0 atIndex:1];
  [encoder setBuffer:result offset:0 atIndex:2];
}

void dispatch(id<MTLComputeCommandEncoder> encoder) {
  [encoder dispatchThreads:MTLSizeMake(kSum.size(), 1, 1)
      threadsPerThreadgroup:MTLSizeMake(kSum.size(), 1, 1)];
}

/// Twice into one encoder, and once with bytes of the encoder's own.
std::string add_on(id<MTLCommandBuffer> commands) {
  const id<MTLBuffer> first = bytes(sizeof(kSum));
  const id<MTLBuffer> second = bytes(sizeof(kSum));
  const id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  [encoder setComputePipelineState:pipeline_of(@"add_arrays")];
  bind(encoder, first);
  dispatch(encoder);
  [encoder setBytes:kRight.data() length:sizeof(kRight) atIndex:1];
  [encoder setBuffer:second offset:0 atIndex:2];
  dispatch(encoder);
  [encoder endEncoding];
  return either(run(commands), either(holds(first, 0, kSum), holds(second, 0, kSum)));
}

std::string add() { return add_on(new_command_buffer()); }

void use_no_function() { pipeline_of(@"none_of_that_name"); }

void dispatch_nothing() {
  const id<MTLComputeCommandEncoder> encoder = [new_command_buffer() computeCommandEncoder];
  bind(encoder, bytes(sizeof(kSum)));
  dispatch(encoder);
}

void dispatch_unbound() {
  const id<MTLComputeCommandEncoder> encoder = [new_command_buffer() computeCommandEncoder];
  [encoder setComputePipelineState:pipeline_of(@"add_arrays")];
  bind(encoder, bytes(sizeof(kSum)));
  [encoder setBuffer:nil offset:0 atIndex:1];
  dispatch(encoder);
}

void dispatch_after_end() {
  const id<MTLComputeCommandEncoder> encoder = [new_command_buffer() computeCommandEncoder];
  [encoder setComputePipelineState:pipeline_of(@"add_arrays")];
  bind(encoder, bytes(sizeof(kSum)));
  [encoder endEncoding];
  dispatch(encoder);
}

// One after the other, so that it is always the second thread that is noticed.
void share_an_encoder() {
  hand_over_unordered(
      [] {
        const id<MTLComputeCommandEncoder> encoder = [new_command_buffer() computeCommandEncoder];
        [encoder setComputePipelineState:pipeline_of(@"add_arrays")];
        bind(encoder, bytes(sizeof(kSum)));
        dispatch(encoder);
        return encoder;
      },
      [](id encoder) { dispatch(encoder); });
}

// A pipeline state may be shared; command buffer and encoder are each thread's own.
std::string an_encoder_each() {
  std::string other;
  on_another_thread([&] { other = add(); });
  return either(add(), other);
}

constexpr const char* kEncoder =
    "https://developer.apple.com/documentation/metal/mtlcomputecommandencoder";

constexpr Rule kRules[] = {
    {"no-function", "makes a pipeline of a function that its library does not have",
     "newFunctionWithName: gives nil where there is none, and a pipeline wants a function",
     "https://developer.apple.com/documentation/metal/mtllibrary/makefunction(name:)", true,
     "-[MTLComputePipelineDescriptorInternal setComputeFunction:withType:]:722: failed assertion "
     "`computeFunction must not be nil.'",
     use_no_function, add},
    {"dispatch-without-pipeline", "dispatches before a pipeline state was set",
     "the pipeline state is set before the first dispatch", kEncoder, true,
     "-[MTLDebugComputeCommandEncoder dispatchThreads:threadsPerThreadgroup:]: failed "
     "assertion `computePipelineState must not be nil.'",
     dispatch_nothing, add},
    {"unbound-buffer", "dispatches a kernel that lacks one of its buffers",
     "each argument of a kernel is bound before it is dispatched", kEncoder, true,
     "validateComputeFunctionArguments:1038: failed assertion `Compute Function(add_arrays): "
     "missing Buffer binding at index 1 for b[0].'",
     dispatch_unbound, add},
    {"dispatch-after-end", "dispatches a kernel with an encoder that was ended",
     "endEncoding declares that the encoder makes no more commands",
     "https://developer.apple.com/documentation/metal/mtlcommandencoder/endencoding()", false,
     "-[AGXG16XFamilyComputeContext dispatchThreads:threadsPerThreadgroup:]: failed assertion "
     "`encoding on an encoder that has ended'",
     dispatch_after_end, add},
    {"shared-encoder", "two threads dispatch with one encoder",
     "one thread at a time encodes (the face wants one thread for all of a command buffer's life)",
     kEncoder, false,
     "-[SimulatedCommandBuffer dispatchThreads:threadsPerThreadgroup:]: failed assertion `command "
     "buffer used by a thread that did not create it'",
     share_an_encoder, an_encoder_each},
};

}  // namespace

std::span<const Rule> pipeline_rules() { return kRules; }

}  // namespace mpsprobe::metal_rules
