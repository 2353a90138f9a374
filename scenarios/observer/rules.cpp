#include "scenarios/observer/rules.h"

#include <array>

namespace mpsprobe::observer {
namespace {

constexpr const char* kBuffer = "https://developer.apple.com/documentation/metal/mtlcommandbuffer";
constexpr const char* kEncoder =
    "https://developer.apple.com/documentation/metal/mtlcommandencoder";
constexpr const char* kCompute =
    "https://developer.apple.com/documentation/metal/mtlcomputecommandencoder";
constexpr const char* kBlit =
    "https://developer.apple.com/documentation/metal/mtlblitcommandencoder";
constexpr const char* kKernel =
    "https://developer.apple.com/documentation/metalperformanceshaders/mpskernel";
constexpr const char* kThreads =
    "https://developer.apple.com/library/archive/documentation/Miscellaneous/Conceptual/"
    "MetalProgrammingGuide/Cmd-Submiss/Cmd-Submiss.html";

constexpr const char* kTorchHeader =
    "https://github.com/pytorch/pytorch/blob/main/torch/csrc/api/include/torch/mps.h";

// Metal's headers mark which protocols are Sendable (NS_SWIFT_SENDABLE): devices, queues, events,
// fences, libraries, functions and pipeline states. Command buffers, encoders and kernels are not.
constexpr std::array kTexts = {
    RuleText{"second-encoder", "opened an encoder while another one is open",
             "a command buffer has one active encoder at a time",
             "End the open encoder first. PyTorch's is ended by endKernelCoalescing(); or encode "
             "with it, and do "
             "not end it",
             kThreads, true},
    RuleText{"commit-open-encoder", "committed a command buffer while an encoder of it is open",
             "all encoders are ended before the command buffer is committed",
             "Call endEncoding before commit", kThreads, true},
    RuleText{"double-commit", "committed a command buffer twice",
             "a command buffer is committed once",
             "Take a new command buffer from the queue for each commit", kBuffer, true},
    RuleText{"encoder-after-commit", "encoded into a command buffer that was committed",
             "once committed, a command buffer takes no more commands",
             "Take a new command buffer; do not keep one across whatever commits it", kBuffer,
             true},
    RuleText{"scheduled-handler-after-commit", "added a scheduled handler after commit",
             "handlers are added before commit", "Add the handler before commit", kBuffer, true},
    RuleText{"completed-handler-after-commit", "added a completed handler after commit",
             "handlers are added before commit", "Add the handler before commit", kBuffer, true},
    RuleText{"wait-before-commit", "waited for a command buffer that was not committed",
             "the wait ends when the device is done, which begins with commit", "Commit, then wait",
             kBuffer, true},
    RuleText{"encode-after-end", "encoded with an encoder that was ended",
             "after endEncoding an encoder makes no more commands", "Open a new encoder", kEncoder,
             true},
    RuleText{"end-twice", "ended an encoder twice", "an encoder is ended once",
             "Let the code that opened the encoder end it", kEncoder, true},
    RuleText{"release-without-end", "released an encoder without ending it",
             "an encoder is ended before it is released",
             "Call endEncoding on every path, also after an error", kEncoder, true},
    RuleText{"foreign-encoder", "encoded a kernel into the encoder of another command buffer",
             "a kernel takes an encoder and the command buffer that it belongs to",
             "Pass the command buffer that made the encoder", kKernel, true},
    RuleText{
        "no-function", "made a pipeline state of a function that is nil",
        "newFunctionWithName: gives nil where there is none, and a pipeline state wants a function",
        "Check the function's name, and that what newFunctionWithName: returns is not nil",
        "https://developer.apple.com/documentation/metal/mtllibrary/makefunction(name:)", true},
    RuleText{"dispatch-without-pipeline", "dispatched before a pipeline state was set",
             "the pipeline state is set before the first dispatch",
             "Call setComputePipelineState: on each new encoder", kCompute, true},
    RuleText{"unbound-buffer", "dispatched a kernel that lacks one of its buffers",
             "each argument of a kernel is bound before it is dispatched",
             "Bind every [[buffer(n)]] of the kernel on each new encoder", kCompute, true},
    RuleText{"dispatch-after-end", "dispatched a kernel with an encoder that was ended",
             "after endEncoding an encoder makes no more commands", "Open a new encoder", kEncoder,
             true},
    RuleText{"shared-encoder", "two threads were inside one encoder at once",
             "one thread at a time encodes",
             "Give each thread a command buffer and an encoder of its own", kCompute, true},
    RuleText{"shared-command-buffer", "two threads used one command buffer at once",
             "threads that encode side by side have a command buffer each",
             "Give each thread a command buffer of its own", kThreads, true},
    RuleText{
        "foreign-command-buffer",
        "used a command buffer of another thread, and no order between the two was seen",
        "one thread at a time uses a command buffer (legal where an atomic, or what else is not "
        "seen here, orders the two)",
        "Make the command buffer on the thread that encodes", kThreads, false},
    RuleText{"shared-kernel", "two threads encoded one kernel object at once",
             "several threads do not encode one kernel object",
             "Give each thread a copy ([kernel copyWithZone:device:]), or a lock around encode",
             "https://developer.apple.com/documentation/metalperformanceshaders/mpskernel/"
             "copy(with:device:)",
             true},
    RuleText{"fill-beyond-buffer", "filled more than the buffer holds",
             "a fill lies within its buffer", "Check location + length against the buffer's length",
             kBlit, true},
    RuleText{"copy-beyond-buffer", "copied more than a buffer holds",
             "a copy lies within both its buffers", "Check offset + size against both lengths",
             kBlit, true},
    RuleText{"array-beyond-buffer", "made an array that is larger than its buffer",
             "an array lies within its buffer",
             "Check offset + size of the shape against the buffer's length",
             "https://developer.apple.com/documentation/metalperformanceshaders/mpsndarray", true},
    RuleText{"unfed-placeholder", "ran a graph without a placeholder that its result needs",
             "each placeholder that a target depends on is fed", "Add the placeholder to feeds",
             "https://developer.apple.com/documentation/metalperformanceshadersgraph/mpsgraph",
             true},
    RuleText{"handed-over-encoder",
             "used an encoder of another thread, and no order between the two was seen",
             "one thread at a time encodes (legal where an atomic, or what else is not seen here, "
             "orders the two)",
             "Open the encoder on the thread that encodes", kCompute, false},
    RuleText{
        "off-queue", "used what belongs to a stream of PyTorch's off the stream's queue",
        "PyTorch encodes on a serial queue, from whatever thread, and so does an extension; off "
        "it nothing orders the two (PyTorch 1.13 and later)",
        "Encode in dispatch_sync(torch::mps::get_dispatch_queue(), ^{ ... })", kTorchHeader, true},
    RuleText{"borrowed-buffer",
             "used a command buffer or an encoder of PyTorch's that PyTorch has committed or ended",
             "what a stream gave is its own until the next call of PyTorch's, which may commit it "
             "(PyTorch 1.13 and later)",
             "Ask for torch::mps::get_command_buffer() again, in the block that encodes",
             kTorchHeader, true},
    RuleText{
        "own-encoder",
        "opened an encoder of its own on PyTorch's command buffer, where PyTorch's happened to "
        "be ended",
        "PyTorch keeps its encoder open between kernels (2.0 and later): a second one ends the "
        "process where "
        "nothing has ended it",
        "Encode with the stream's own encoder (stream->commandEncoder()), and do not end it",
        kTorchHeader, false},
    RuleText{"shared-allocator",
             "began a command buffer with an allocator that another one is recorded with",
             "a command allocator serves one command buffer at a time",
             "End the other command buffer first, or give each an allocator of its own",
             "https://developer.apple.com/documentation/metal/mtl4commandbuffer/"
             "begincommandbuffer(allocator:)",
             true},
    RuleText{"reset-while-recording",
             "reset a command allocator while a command buffer is recorded with it",
             "an allocator is reset when all command buffers with memory of it are complete",
             "End and commit the command buffer, and wait until the device is done with it",
             "https://developer.apple.com/documentation/metal/mtl4commandallocator/reset()", true},
    RuleText{"commit-while-recording", "committed a command buffer that was not ended",
             "a command buffer of Metal 4 is ended before it is committed",
             "Call endCommandBuffer before commit:count:",
             "https://developer.apple.com/documentation/metal/mtl4commandbuffer/endcommandbuffer()",
             true},
    RuleText{"shared-commit-options", "two threads were inside one commit options object at once",
             "commit options are not thread-safe",
             "Give each thread options of its own, or a lock around their use",
             "https://developer.apple.com/documentation/metal/mtl4commitoptions", true},
};

static_assert(kTexts.size() == static_cast<size_t>(RuleId::shared_commit_options) + 1);

}  // namespace

const RuleText& text_of(RuleId rule) {
  return kTexts[static_cast<size_t>(rule)];
}

}  // namespace mpsprobe::observer
