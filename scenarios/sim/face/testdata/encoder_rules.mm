#include <array>

#include "scenarios/sim/face/testdata/workbench.h"

namespace mpsprobe::metal_rules {
namespace {

constexpr NSUInteger kLength = 64;
constexpr uint8_t kValue = 0x2a;

void encode_after_end() {
  const id<MTLBlitCommandEncoder> encoder = [new_command_buffer() blitCommandEncoder];
  [encoder endEncoding];
  [encoder fillBuffer:bytes(kLength) range:NSMakeRange(0, kLength) value:kValue];
}

std::string encode_before_end() {
  const id<MTLCommandBuffer> commands = new_command_buffer();
  const id<MTLBuffer> buffer = bytes(kLength);
  encode_fill(commands, buffer, NSMakeRange(0, kLength / 2), kValue);
  encode_fill(commands, buffer, NSMakeRange(kLength / 2, kLength / 2), 1);
  return either(either(run(commands), holds(buffer, NSMakeRange(0, kLength / 2), kValue)),
                holds(buffer, NSMakeRange(kLength / 2, kLength / 2), 1));
}

void end_twice() {
  const id<MTLBlitCommandEncoder> encoder = [new_command_buffer() blitCommandEncoder];
  [encoder endEncoding];
  [encoder endEncoding];
}

std::string end_each_once() {
  const id<MTLCommandBuffer> commands = new_command_buffer();
  [[commands computeCommandEncoder] endEncoding];
  const id<MTLBuffer> buffer = bytes(kLength);
  encode_fill(commands, buffer, NSMakeRange(0, kLength), kValue);
  return either(run(commands), holds(buffer, NSMakeRange(0, kLength), kValue));
}

void release_without_end() {
  const id<MTLCommandBuffer> commands = new_command_buffer();
  @autoreleasepool {
    [commands blitCommandEncoder];
  }
}

std::string end_and_release() {
  const id<MTLCommandBuffer> commands = new_command_buffer();
  const id<MTLBuffer> buffer = bytes(kLength);
  @autoreleasepool {
    encode_fill(commands, buffer, NSMakeRange(0, kLength), kValue);
  }
  return either(run(commands), holds(buffer, NSMakeRange(0, kLength), kValue));
}

constexpr std::array<float, 4> kLeft = {1, 2, 3, 4};
constexpr std::array<float, 4> kProduct = {7, 10, 15, 22};

/// left x left into `encoder`, as into one of `commands`.
void encode_product(id<MTLComputeCommandEncoder> encoder, id<MTLCommandBuffer> commands,
                    id<MTLBuffer> result) {
  if (@available(macOS 15.0, *)) {
    [product_kernel() encodeToCommandEncoder:encoder
                               commandBuffer:commands
                                sourceArrays:@[ matrix(floats(kLeft), 0), matrix(floats(kLeft), 0) ]
                            destinationArray:matrix(result, 0)];
  }
}

void encode_into_a_foreign_encoder() {
  const id<MTLComputeCommandEncoder> encoder = [new_command_buffer() computeCommandEncoder];
  encode_product(encoder, new_command_buffer(), bytes(sizeof(kProduct)));
}

// Two kernels into one encoder that stays open between them.
std::string encode_into_its_own_encoder() {
  const id<MTLCommandBuffer> commands = new_command_buffer();
  const id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  const id<MTLBuffer> first = bytes(sizeof(kProduct));
  const id<MTLBuffer> second = bytes(sizeof(kProduct));
  encode_product(encoder, commands, first);
  encode_product(encoder, commands, second);
  [encoder endEncoding];
  return either(run(commands), either(holds(first, 0, kProduct), holds(second, 0, kProduct)));
}

constexpr const char* kEncoder =
    "https://developer.apple.com/documentation/metal/mtlcommandencoder/endencoding()";

constexpr Rule kRules[] = {
    {"encode-after-end", "encodes with an encoder that was ended",
     "endEncoding declares that the encoder makes no more commands", kEncoder, false,
     "-[AGXG16XFamilyComputeContext dispatchThreads:threadsPerThreadgroup:]: failed assertion "
     "`encoding on an encoder that has ended'",
     encode_after_end, encode_before_end},
    {"end-twice", "ends an encoder twice", "an encoder is ended once", kEncoder, true,
     "-[MTLDebugCommandEncoder endEncoding]:32: failed assertion `endEncoding has already been "
     "called.'",
     end_twice, end_each_once},
    {"release-without-end", "releases an encoder without ending it",
     "an encoder is ended before it is released",
     "https://developer.apple.com/documentation/metal/mtlcommandencoder", true,
     "-[_MTLCommandEncoder dealloc]:131: failed assertion `Command encoder released without "
     "endEncoding'",
     release_without_end, end_and_release},
    {"foreign-encoder", "encodes a kernel into the encoder of another command buffer",
     "a kernel takes an encoder and the command buffer that it belongs to",
     "https://developer.apple.com/documentation/metalperformanceshaders/mpsndarraymultiarykernel/"
     "encode(to:commandbuffer:sourcearrays:destinationarray:)",
     false,
     "-[SimulatedCommandBuffer encode]: failed assertion `encoder of another command buffer'",
     encode_into_a_foreign_encoder, encode_into_its_own_encoder},
};

}  // namespace

std::span<const Rule> encoder_rules() { return kRules; }

}  // namespace mpsprobe::metal_rules
