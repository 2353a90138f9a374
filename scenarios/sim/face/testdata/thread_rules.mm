#include <array>
#include <atomic>
#include <latch>
#include <thread>

#include "scenarios/sim/face/testdata/workbench.h"

/// An array that holds whoever asks for its count until it is let go, so that a kernel which reads
/// its sources stays where it is.
@interface HeldArray : NSArray {
  NSArray* objects_;
  std::latch* entered_;
  std::latch* released_;
}
- (id)initWithArray:(NSArray*)objects;
- (void)waitUntilEntered;
- (void)letGo;
@end

@implementation HeldArray
- (id)initWithArray:(NSArray*)objects {
  if ((self = [super init]) != nil) {
    objects_ = [objects retain];
    entered_ = new std::latch(1);
    released_ = new std::latch(1);
  }
  return self;
}
- (void)dealloc {
  [objects_ release];
  delete entered_;
  delete released_;
  [super dealloc];
}
- (NSUInteger)count {
  if (!entered_->try_wait()) entered_->count_down();  // one thread asks
  released_->wait();
  return [objects_ count];
}
- (id)objectAtIndex:(NSUInteger)index {
  return [objects_ objectAtIndex:index];
}
- (void)waitUntilEntered {
  entered_->wait();
}
- (void)letGo {
  released_->count_down();
}
@end

namespace mpsprobe::metal_rules {
namespace {

constexpr NSUInteger kHalf = 32;

// Two threads, each with an encoder open at the same time. The order in which they open theirs is
// fixed, so that it is always the same rule that is noticed.
void share_a_command_buffer() {
  const id<MTLCommandBuffer> shared = new_command_buffer();
  std::latch first_is_open(1);
  std::latch second_is_done(1);
  std::thread second([&] {
    @autoreleasepool {
      first_is_open.wait();
      [shared blitCommandEncoder];
      second_is_done.count_down();
    }
  });
  const id<MTLBlitCommandEncoder> first = [shared blitCommandEncoder];
  first_is_open.count_down();
  second_is_done.wait();
  [first endEncoding];
  second.join();
}

std::string a_command_buffer_each() {
  const id<MTLCommandQueue> queue = new_queue();
  const id<MTLBuffer> buffer = bytes(2 * kHalf);
  std::array<std::string, 2> problems;
  std::latch both_are_open(2);
  std::array<std::thread, 2> threads;
  for (size_t i = 0; i < threads.size(); ++i) {
    threads[i] = std::thread([&, i] {
      @autoreleasepool {
        const id<MTLCommandBuffer> own = [queue commandBuffer];
        const id<MTLBlitCommandEncoder> encoder = [own blitCommandEncoder];
        both_are_open.arrive_and_wait();
        [encoder fillBuffer:buffer
                      range:NSMakeRange(i * kHalf, kHalf)
                      value:static_cast<uint8_t>(i + 1)];
        [encoder endEncoding];
        problems[i] = run(own);
      }
    });
  }
  for (std::thread& each : threads) each.join();
  const std::string problem = either(problems[0], problems[1]);
  return either(problem, either(holds(buffer, NSMakeRange(0, kHalf), 1),
                                holds(buffer, NSMakeRange(kHalf, kHalf), 2)));
}

void use_another_threads_command_buffer() {
  hand_over_unordered([] { return new_command_buffer(); },
                      [](id commands) { [[commands computeCommandEncoder] endEncoding]; });
}

std::string make_it_where_it_is_used() {
  const id<MTLCommandQueue> queue = new_queue();
  const id<MTLBuffer> buffer = bytes(kHalf);
  std::string problem;
  on_another_thread([&] {
    const id<MTLCommandBuffer> commands = [queue commandBuffer];
    encode_fill(commands, buffer, NSMakeRange(0, kHalf), 7);
    problem = run(commands);
  });
  return either(problem, holds(buffer, NSMakeRange(0, kHalf), 7));
}

constexpr std::array<float, 4> kLeft = {1, 2, 3, 4};
constexpr std::array<float, 4> kRight = {5, 6, 7, 8};
constexpr std::array<float, 4> kProduct = {19, 22, 43, 50};

NSArray* sources() { return @[ matrix(floats(kLeft), 0), matrix(floats(kRight), 0) ]; }

void share_a_kernel() {
  MPSNDArrayMatrixMultiplication* const shared = product_kernel();
  HeldArray* const held = [[[HeldArray alloc] initWithArray:sources()] autorelease];
  std::thread first([&] {
    @autoreleasepool {
      [shared encodeToCommandBuffer:new_command_buffer()
                       sourceArrays:held
                   destinationArray:matrix(bytes(sizeof(kProduct)), 0)];
    }
  });
  [held waitUntilEntered];
  [shared encodeToCommandBuffer:new_command_buffer()
                   sourceArrays:sources()
               destinationArray:matrix(bytes(sizeof(kProduct)), 0)];
  [held letGo];
  first.join();
}

std::string a_kernel_each() {
  std::array<std::string, 2> problems;
  std::array<std::thread, 2> threads;
  std::latch both_have_one(2);
  for (size_t i = 0; i < threads.size(); ++i) {
    threads[i] = std::thread([&, i] {
      @autoreleasepool {
        MPSNDArrayMatrixMultiplication* const own = product_kernel();
        const id<MTLCommandBuffer> commands = new_command_buffer();
        const id<MTLBuffer> result = bytes(sizeof(kProduct));
        both_have_one.arrive_and_wait();
        [own encodeToCommandBuffer:commands
                      sourceArrays:sources()
                  destinationArray:matrix(result, 0)];
        problems[i] = either(run(commands), holds(result, 0, kProduct));
      }
    });
  }
  for (std::thread& each : threads) each.join();
  return either(problems[0], problems[1]);
}

constexpr const char* kCommandBuffer =
    "https://developer.apple.com/documentation/metal/mtlcommandbuffer";

constexpr Rule kRules[] = {
    {"shared-command-buffer", "two threads each open an encoder on one command buffer",
     "one encoder at a time adds to a command buffer; threads that encode side by side have a "
     "command buffer each",
     kCommandBuffer, true,
     "-[AGXG16XFamilyCommandBuffer blitCommandEncoderCommon:]:836: failed assertion `A command "
     "encoder is already encoding to this command buffer'",
     share_a_command_buffer, a_command_buffer_each},
    {"foreign-command-buffer", "a thread encodes into a command buffer that another one made",
     "threads that encode side by side have a command buffer each (the face wants one thread for "
     "all of a command buffer's life, which can be checked)",
     kCommandBuffer, false,
     "-[SimulatedCommandBuffer computeCommandEncoder]: failed assertion `command buffer used by a "
     "thread that did not create it'",
     use_another_threads_command_buffer, make_it_where_it_is_used},
    {"shared-kernel", "two threads encode one kernel object at once",
     "several threads do not encode one kernel object; each has a copy of its own",
     "https://developer.apple.com/documentation/metalperformanceshaders/mpskernel/"
     "copy(with:device:)",
     false,
     "-[MPSNDArrayMatrixMultiplication encode]: failed assertion `kernel object encoded by two "
     "threads at once'",
     share_a_kernel, a_kernel_each},
};

}  // namespace

std::span<const Rule> thread_rules() { return kRules; }

}  // namespace mpsprobe::metal_rules
