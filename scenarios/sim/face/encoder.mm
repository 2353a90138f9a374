#include <algorithm>
#include <cstring>

#include "scenarios/objective_c/owned.h"
#include "scenarios/sim/face/objects.h"
#include "scenarios/sim/face/pipeline.h"

using mpsprobe::Owned;
using namespace mpsprobe::sim;
using namespace mpsprobe::sim::face;

namespace {

using Buffer = Owned<id<MTLBuffer>>;

// Metal's validation layer words it so: the sum with its parts, and the limit.
void require_within(const char* method, const char* what, NSUInteger offset, const char* more,
                    NSUInteger size, const char* whole, NSUInteger length) {
  if (size <= length && offset <= length - size) return;
  metal::fail_assertion("-[MTLDebugBlitCommandEncoder " + std::string(method) + "]", 0,
                        "(" + std::string(what) + "(" + std::to_string(offset) + ") + " + more +
                            "(" + std::to_string(size) + "))(" + std::to_string(offset + size) +
                            ") must be <= [" + whole + " length](" + std::to_string(length) + ").");
}

DispatchState& state_of(SimulatedEncoder* encoder, const char* method) {
  require_owner(*encoder->buffer_->recording_, method);
  if (encoder->dispatch_ == nullptr) encoder->dispatch_ = new DispatchState;
  return *encoder->dispatch_;
}

DispatchState::Binding& binding_of(SimulatedEncoder* encoder, const char* method,
                                   NSUInteger index) {
  DispatchState& state = state_of(encoder, method);
  if (index >= state.bindings.size()) {
    metal::fail_assertion("-[SimulatedEncoder " + std::string(method) + "]", 0,
                          "a buffer's index is from 0 to 30, and not " + std::to_string(index));
  }
  return state.bindings[index];
}

}  // namespace

@implementation SimulatedEncoder
- (id)initWithBuffer:(SimulatedCommandBuffer*)buffer encoder:(metal::Encoder&)encoder {
  if ((self = [super init]) != nil) {
    buffer_ = [buffer retain];
    encoder_ = &encoder;
  }
  return self;
}
- (void)dealloc {
  if (!encoder_->ended()) {
    metal::fail_assertion("-[_MTLCommandEncoder dealloc]", 131,
                          "Command encoder released without endEncoding");
  }
  delete dispatch_;
  [buffer_ release];
  [super dealloc];
}
- (void)endEncoding {
  if (!encoder_->ended()) require_owner(*buffer_->recording_, "endEncoding");
  encoder_->end_encoding();
}
- (void)fillBuffer:(id<MTLBuffer>)buffer range:(NSRange)range value:(uint8_t)value {
  require_owner(*buffer_->recording_, "fillBuffer:range:value:");
  require_within("fillBuffer:range:value:", "range.location", range.location, "range.length",
                 range.length, "buffer", [buffer length]);
  const EncodeResult result = meet_defects(buffer_, "zero_", EncodePath::blit);
  raise_if_asked(result);
  // A command buffer keeps what its commands use until it has been executed.
  encoder_->encode([kept = Buffer::retain(buffer), range,
                    value = result.wrong_numbers ? static_cast<uint8_t>(~value) : value] {
    std::memset(static_cast<char*>([kept.get() contents]) + range.location, value, range.length);
  });
}
- (void)copyFromBuffer:(id<MTLBuffer>)sourceBuffer
          sourceOffset:(NSUInteger)sourceOffset
              toBuffer:(id<MTLBuffer>)destinationBuffer
     destinationOffset:(NSUInteger)destinationOffset
                  size:(NSUInteger)size {
  const char* const method = "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:";
  require_owner(*buffer_->recording_, method);
  require_within(method, "sourceOffset", sourceOffset, "size", size, "sourceBuffer",
                 [sourceBuffer length]);
  require_within(method, "destinationOffset", destinationOffset, "size", size, "destinationBuffer",
                 [destinationBuffer length]);
  const EncodeResult result = meet_defects(buffer_, "copy_", EncodePath::blit);
  raise_if_asked(result);
  encoder_->encode([from = Buffer::retain(sourceBuffer), sourceOffset,
                    to = Buffer::retain(destinationBuffer), destinationOffset, size,
                    wrong = result.wrong_numbers] {
    auto* const target = static_cast<uint8_t*>([to.get() contents]) + destinationOffset;
    std::memmove(target, static_cast<const char*>([from.get() contents]) + sourceOffset, size);
    if (wrong) std::for_each_n(target, size, [](uint8_t& each) { each = ~each; });
  });
}
- (void)setComputePipelineState:(id<MTLComputePipelineState>)state {
  state_of(self, "setComputePipelineState:").pipeline =
      Owned<SimulatedPipeline*>::retain((SimulatedPipeline*)state);
}
- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index {
  binding_of(self, "setBuffer:offset:atIndex:", index) = {Owned<id<MTLBuffer>>::retain(buffer),
                                                          offset, nullptr};
}
- (void)setBytes:(const void*)bytes length:(NSUInteger)length atIndex:(NSUInteger)index {
  const auto* const first = static_cast<const char*>(bytes);
  DispatchState::Binding binding;
  binding.bytes = std::make_shared<std::vector<char>>(first, first + length);
  binding_of(self, "setBytes:length:atIndex:", index) = binding;
}
- (void)useResource:(id<MTLResource>)resource usage:(MTLResourceUsage)usage {
  // everything is resident
}
- (void)dispatchThreadgroups:(MTLSize)threadgroupsPerGrid
       threadsPerThreadgroup:(MTLSize)threadsPerThreadgroup {
  [self dispatchThreads:{threadgroupsPerGrid.width * threadsPerThreadgroup.width,
                         threadgroupsPerGrid.height * threadsPerThreadgroup.height,
                         threadgroupsPerGrid.depth * threadsPerThreadgroup.depth}
      threadsPerThreadgroup:threadsPerThreadgroup];
}
- (void)dispatchThreads:(MTLSize)threadsPerGrid
    threadsPerThreadgroup:(MTLSize)threadsPerThreadgroup {
  const char* const method = "dispatchThreads:threadsPerThreadgroup:";
  const DispatchState& state = state_of(self, method);
  const std::string place = "-[MTLDebugComputeCommandEncoder " + std::string(method) + "]";
  if (!state.pipeline) {
    metal::fail_assertion(place, 0, "computePipelineState must not be nil.");
  }
  SimulatedFunction* const function = state.pipeline.get()->function_;
  std::vector<DispatchState::Binding> bound(state.bindings.begin(),
                                            state.bindings.begin() + function->shader_->buffers);
  for (size_t i = 0; i < bound.size(); ++i) {
    if (bound[i].data() != nullptr) continue;
    metal::fail_assertion(
        "validateComputeFunctionArguments", 1038,
        "Compute Function(" + function->function_->name + "): missing Buffer binding at index " +
            std::to_string(i) + " for " +
            (i < function->function_->parameters.size() ? function->function_->parameters[i]
                                                        : "buffer") +
            "[0].");
  }
  if (threadsPerGrid.height != 1 || threadsPerGrid.depth != 1) {
    metal::fail_assertion(place, 0, "the simulated device has one dimension alone");
  }
  // no kernel asks for its place in its group
  encode_work(buffer_, self, function->shader_->operation, EncodePath::nograph,
              [pipeline = state.pipeline, bound = std::move(bound),
               threads = threadsPerGrid.width](bool wrong) {
                std::vector<char*> data;
                for (const DispatchState::Binding& each : bound) data.push_back(each.data());
                pipeline.get()->function_->shader_->run(data, threads, wrong);
              });
}
@end
