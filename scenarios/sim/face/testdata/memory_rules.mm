#include <array>

#include "scenarios/sim/face/testdata/workbench.h"

namespace mpsprobe::metal_rules {
namespace {

constexpr NSUInteger kLength = 64;
constexpr uint8_t kValue = 0x2a;

void fill_beyond() {
  encode_fill(new_command_buffer(), bytes(kLength), NSMakeRange(32, 36), kValue);
}

std::string fill_to_the_end() {
  const id<MTLCommandBuffer> commands = new_command_buffer();
  const id<MTLBuffer> buffer = bytes(kLength);
  encode_fill(commands, buffer, NSMakeRange(32, 32), kValue);
  return either(either(run(commands), holds(buffer, NSMakeRange(0, 32), 0)),
                holds(buffer, NSMakeRange(32, 32), kValue));
}

void encode_copy(id<MTLCommandBuffer> commands, id<MTLBuffer> from, id<MTLBuffer> to,
                 NSUInteger offset, NSUInteger size) {
  const id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
  [encoder copyFromBuffer:from sourceOffset:0 toBuffer:to destinationOffset:offset size:size];
  [encoder endEncoding];
}

void copy_beyond() {
  encode_copy(new_command_buffer(), bytes(kLength), bytes(kLength), 16, kLength);
}

std::string copy_to_the_end() {
  const id<MTLCommandBuffer> commands = new_command_buffer();
  const id<MTLBuffer> from = bytes(kLength);
  const id<MTLBuffer> to = bytes(kLength);
  encode_fill(commands, from, NSMakeRange(0, kLength), kValue);
  encode_copy(commands, from, to, 16, kLength - 16);
  return either(either(run(commands), holds(to, NSMakeRange(0, 16), 0)),
                holds(to, NSMakeRange(16, kLength - 16), kValue));
}

void array_beyond() { matrix(bytes(5 * sizeof(float)), 2 * sizeof(float)); }

std::string array_to_the_end() {
  constexpr std::array<float, 4> kLeft = {1, 2, 3, 4};
  constexpr std::array<float, 6> kRight = {0, 0, 5, 6, 7, 8};  // from the third number on
  constexpr std::array<float, 4> kProduct = {19, 22, 43, 50};
  const id<MTLCommandBuffer> commands = new_command_buffer();
  const id<MTLBuffer> result = bytes(sizeof(kProduct));
  [product_kernel()
      encodeToCommandBuffer:commands
               sourceArrays:@[ matrix(floats(kLeft), 0), matrix(floats(kRight), 2 * sizeof(float)) ]
           destinationArray:matrix(result, 0)];
  return either(run(commands), holds(result, 0, kProduct));
}

constexpr Rule kRules[] = {
    {"fill-beyond-buffer", "fills more than the buffer holds", "a fill lies within its buffer",
     "https://developer.apple.com/documentation/metal/mtlblitcommandencoder/"
     "fill(buffer:range:value:)",
     false,
     "-[MTLDebugBlitCommandEncoder fillBuffer:range:value:]: failed assertion "
     "`(range.location(32) + range.length(36))(68) must be <= [buffer length](64).'",
     fill_beyond, fill_to_the_end},
    {"copy-beyond-buffer", "copies more than the destination holds",
     "a copy lies within both its buffers",
     "https://developer.apple.com/documentation/metal/mtlblitcommandencoder/"
     "copy(from:sourceoffset:to:destinationoffset:size:)",
     false,
     "-[MTLDebugBlitCommandEncoder "
     "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:]: failed assertion "
     "`(destinationOffset(16) + size(64))(80) must be <= [destinationBuffer length](64).'",
     copy_beyond, copy_to_the_end},
    {"array-beyond-buffer", "makes an array that ends behind its buffer",
     "the buffer holds the array that is described, from the offset on",
     "https://developer.apple.com/documentation/metalperformanceshaders/mpsndarray", true,
     "MPSCore/Types/MPSNDArray.mm:893: failed assertion `[MPSNDArray, "
     "initWithBufferImpl:offset:descriptor:isForNDArrayAlias:isUserBuffer:] Error: buffer is not "
     "large enough. Must be 24 bytes'",
     array_beyond, array_to_the_end},
};

}  // namespace

std::span<const Rule> memory_rules() { return kRules; }

}  // namespace mpsprobe::metal_rules
