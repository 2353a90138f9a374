#include <algorithm>
#include <cstring>

#include "scenarios/objective_c/owned.h"
#include "scenarios/sim/face/objects.h"

namespace metal = mpsprobe::sim::metal;
using mpsprobe::sim::EncodePath;
using mpsprobe::sim::EncodeResult;
using mpsprobe::sim::face::meet_defects;
using mpsprobe::sim::face::raise_if_asked;
using mpsprobe::sim::face::require_owner;
using mpsprobe::Owned;

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
@end
