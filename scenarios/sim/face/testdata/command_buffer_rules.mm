#include <atomic>
#include <chrono>
#include <memory>
#include <semaphore>

#include "scenarios/sim/face/testdata/workbench.h"

namespace mpsprobe::metal_rules {
namespace {

constexpr NSUInteger kLength = 64;
constexpr uint8_t kValue = 0x2a;

NSRange whole() { return NSMakeRange(0, kLength); }

void open_a_second_encoder() {
  const id<MTLCommandBuffer> commands = new_command_buffer();
  [commands blitCommandEncoder];
  [commands computeCommandEncoder];
}

std::string end_the_first_encoder() {
  const id<MTLCommandBuffer> commands = new_command_buffer();
  const id<MTLBuffer> from = bytes(kLength);
  const id<MTLBuffer> to = bytes(kLength);
  encode_fill(commands, from, whole(), kValue);
  const id<MTLBlitCommandEncoder> second = [commands blitCommandEncoder];
  [second copyFromBuffer:from sourceOffset:0 toBuffer:to destinationOffset:0 size:kLength];
  [second endEncoding];
  return either(run(commands), holds(to, whole(), kValue));
}

void commit_with_an_open_encoder() {
  const id<MTLCommandBuffer> commands = new_command_buffer();
  [[commands blitCommandEncoder] fillBuffer:bytes(kLength) range:whole() value:kValue];
  [commands commit];
}

std::string end_and_commit() {
  const id<MTLCommandBuffer> commands = new_command_buffer();
  const id<MTLBuffer> buffer = bytes(kLength);
  encode_fill(commands, buffer, whole(), kValue);
  return either(run(commands), holds(buffer, whole(), kValue));
}

void commit_twice() {
  const id<MTLCommandBuffer> commands = new_command_buffer();
  [commands commit];
  [commands commit];
}

std::string commit_two_command_buffers() {
  const id<MTLCommandQueue> queue = new_queue();
  const id<MTLBuffer> buffer = bytes(kLength);
  std::string problem;
  for (const uint8_t value : {uint8_t{1}, kValue}) {
    const id<MTLCommandBuffer> commands = [queue commandBuffer];
    encode_fill(commands, buffer, whole(), value);
    problem = either(problem, run(commands));
  }
  return either(problem, holds(buffer, whole(), kValue));
}

void encode_after_commit() {
  const id<MTLCommandBuffer> commands = new_command_buffer();
  [commands commit];
  [commands blitCommandEncoder];
}

std::string encode_into_the_next_one() {
  const id<MTLCommandQueue> queue = new_queue();
  const std::string problem = run([queue commandBuffer]);
  const id<MTLBuffer> buffer = bytes(kLength);
  const id<MTLCommandBuffer> next = [queue commandBuffer];
  encode_fill(next, buffer, whole(), kValue);
  return either(problem, either(run(next), holds(buffer, whole(), kValue)));
}

void wait_before_commit() { [new_command_buffer() waitUntilCompleted]; }

std::string wait_after_commit() {
  const id<MTLCommandBuffer> commands = new_command_buffer();
  const id<MTLBuffer> buffer = bytes(kLength);
  encode_fill(commands, buffer, whole(), kValue);
  if ([commands status] != MTLCommandBufferStatusNotEnqueued) return "executing before commit";
  return either(run(commands), holds(buffer, whole(), kValue));
}

// Calls of a handler, which Metal makes on a thread of its choice.
struct Calls {
  std::atomic<int> count = 0;
  std::atomic<MTLCommandBufferStatus> status = MTLCommandBufferStatusNotEnqueued;
  std::counting_semaphore<> made{0};
};

void note_call(Calls& calls, id<MTLCommandBuffer> commands) {
  ++calls.count;
  calls.status = [commands status];
  calls.made.release();
}

// `least` is how far the command buffer has got when the handler is called.
std::string called_once(Calls& calls, MTLCommandBufferStatus least) {
  if (!calls.made.try_acquire_for(std::chrono::seconds(30))) return "the handler was not called";
  if (calls.count != 1) return "the handler was called " + std::to_string(calls.count) + " times";
  if (calls.status < least) return "the handler was called too early";
  return "";
}

void add_scheduled_handler_after_commit() {
  const id<MTLCommandBuffer> commands = new_command_buffer();
  [commands commit];
  [commands addScheduledHandler:^(id<MTLCommandBuffer>){
  }];
}

std::string add_scheduled_handler_before_commit() {
  const id<MTLCommandBuffer> commands = new_command_buffer();
  const id<MTLBuffer> buffer = bytes(kLength);
  const auto calls = std::make_shared<Calls>();
  [commands addScheduledHandler:^(id<MTLCommandBuffer> which) {
    note_call(*calls, which);  // a copy: the block may outlive this function
  }];
  encode_fill(commands, buffer, whole(), kValue);
  const std::string problem = either(run(commands), holds(buffer, whole(), kValue));
  return either(problem, called_once(*calls, MTLCommandBufferStatusScheduled));
}

void add_completed_handler_after_commit() {
  const id<MTLCommandBuffer> commands = new_command_buffer();
  [commands commit];
  [commands addCompletedHandler:^(id<MTLCommandBuffer>){
  }];
}

std::string add_completed_handler_before_commit() {
  const id<MTLCommandBuffer> commands = new_command_buffer();
  const id<MTLBuffer> buffer = bytes(kLength);
  const auto calls = std::make_shared<Calls>();
  [commands addCompletedHandler:^(id<MTLCommandBuffer> which) {
    note_call(*calls, which);  // a copy: the block may outlive this function
  }];
  encode_fill(commands, buffer, whole(), kValue);
  const std::string problem = either(run(commands), holds(buffer, whole(), kValue));
  return either(problem, called_once(*calls, MTLCommandBufferStatusCompleted));
}

constexpr const char* kGuide =
    "https://developer.apple.com/library/archive/documentation/Miscellaneous/Conceptual/"
    "MetalProgrammingGuide/Cmd-Submiss/Cmd-Submiss.html";

constexpr const char* kCommandBuffer =
    "https://developer.apple.com/documentation/metal/mtlcommandbuffer";

constexpr Rule kRules[] = {
    {"second-encoder", "opens an encoder while another one is open",
     "a command buffer has one active encoder at a time; it is ended before the next is made",
     kGuide, true,
     "-[AGXG16XFamilyCommandBuffer "
     "tryCoalescingPreviousComputeCommandEncoderWithConfig:nextEncoderClass:]:1091: failed "
     "assertion `A command encoder is already encoding to this command buffer'",
     open_a_second_encoder, end_the_first_encoder},
    {"commit-open-encoder", "commits while an encoder is open",
     "all encoders are ended before the command buffer is committed", kGuide, true,
     "-[IOGPUMetalCommandBuffer validate]:214: failed assertion `commit command buffer with "
     "uncommitted encoder'",
     commit_with_an_open_encoder, end_and_commit},
    {"double-commit", "commits a command buffer twice",
     "once committed, a command buffer can be waited for and asked for its status, no more",
     kCommandBuffer, true,
     "-[IOGPUMetalCommandBuffer validate]:209: failed assertion `commit an already committed "
     "command buffer'",
     commit_twice, commit_two_command_buffers},
    {"encoder-after-commit", "opens an encoder after commit",
     "once committed, a command buffer can be waited for and asked for its status, no more",
     kCommandBuffer, true,
     "failed assertion _status < MTLCommandBufferStatusCommitted at line 323 in "
     "-[IOGPUMetalCommandBuffer setCurrentCommandEncoder:]",
     encode_after_commit, encode_into_the_next_one},
    {"scheduled-handler-after-commit", "adds a scheduled handler after commit",
     "handlers are added before commit",
     "https://developer.apple.com/documentation/metal/mtlcommandbuffer/addscheduledhandler(_:)",
     true,
     "-[_MTLCommandBuffer addScheduledHandler:]:806: failed assertion `Scheduled handler provided "
     "after commit call'",
     add_scheduled_handler_after_commit, add_scheduled_handler_before_commit},
    {"completed-handler-after-commit", "adds a completed handler after commit",
     "handlers are added before commit",
     "https://developer.apple.com/documentation/metal/mtlcommandbuffer/addcompletedhandler(_:)",
     true,
     "-[_MTLCommandBuffer addCompletedHandler:]:867: failed assertion `Completed handler provided "
     "after commit call'",
     add_completed_handler_after_commit, add_completed_handler_before_commit},
    {"wait-before-commit", "waits for a command buffer that was not committed",
     "the wait ends when the device is done with the command buffer, which begins with commit",
     "https://developer.apple.com/documentation/metal/mtlcommandbuffer/waituntilcompleted()", false,
     "-[_MTLCommandBuffer waitUntilCompleted]: failed assertion `waitUntilCompleted called before "
     "commit'",
     wait_before_commit, wait_after_commit},
};

}  // namespace

std::span<const Rule> command_buffer_rules() { return kRules; }

}  // namespace mpsprobe::metal_rules
