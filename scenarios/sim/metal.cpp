#include "scenarios/sim/metal.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace mpsprobe::sim::metal {
namespace {

[[noreturn]] void abort_saying(std::string line) {
  line += '\n';
  // One write: two threads may fail at once, and their texts must not be mixed byte by byte.
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
  std::abort();
}

}  // namespace

void fail_assertion(std::string_view place, int line, std::string_view text) {
  std::string message(place);
  if (line > 0) message += ":" + std::to_string(line);
  message += ": failed assertion `";
  message += text;
  message += '\'';
  abort_saying(std::move(message));
}

Engine::~Engine() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  submitted_.notify_all();
  if (!thread_.joinable()) return;
  stopped_.load() ? thread_.detach() : thread_.join();
}

void Engine::submit(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
    if (!thread_.joinable()) thread_ = std::thread([this] { execute(); });
  }
  submitted_.notify_one();
}

void Engine::execute() {
  std::unique_lock lock(mutex_);
  while (true) {
    submitted_.wait(lock, [this] { return ending_ || !work_.empty(); });
    if (work_.empty()) return;
    const std::function<void()> work = std::move(work_.front());
    work_.pop_front();
    lock.unlock();
    work();
    lock.lock();
  }
}

void Encoder::encode(std::function<void()> command) {
  if (ended_.load(std::memory_order_acquire)) {
    fail_assertion("-[AGXG16XFamilyComputeContext dispatchThreads:threadsPerThreadgroup:]", 0,
                   "encoding on an encoder that has ended");
  }
  buffer_.add_command(std::move(command));
}

void Encoder::end_encoding() {
  if (ended_.exchange(true)) {
    fail_assertion("-[MTLDebugCommandEncoder endEncoding]", 32,
                   "endEncoding has already been called.");
  }
  buffer_.encoding_.store(false, std::memory_order_release);
}

Encoder& CommandBuffer::open_encoder(EncoderKind kind) {
  require_recording("setCurrentCommandEncoder:");
  if (encoding_.exchange(true)) {
    const char* text = "A command encoder is already encoding to this command buffer";
    if (kind == EncoderKind::blit) {
      fail_assertion("-[AGXG16XFamilyCommandBuffer blitCommandEncoderCommon:]", 836, text);
    }
    fail_assertion(
        "-[AGXG16XFamilyCommandBuffer "
        "tryCoalescingPreviousComputeCommandEncoderWithConfig:nextEncoderClass:]",
        1091, text);
  }
  std::lock_guard lock(contents_);
  return *encoders_.emplace_back(std::make_unique<Encoder>(*this));
}

void CommandBuffer::require_recording(std::string_view method) const {
  if (status() < CommandBufferStatus::committed) return;
  // This one names its place behind the condition, and has no quotes.
  abort_saying(
      "failed assertion _status < MTLCommandBufferStatusCommitted at line 323 in "
      "-[IOGPUMetalCommandBuffer " +
      std::string(method) + "]");
}

void CommandBuffer::add_command(std::function<void()> command) {
  require_recording("setCurrentCommandEncoder:");
  std::lock_guard lock(contents_);
  commands_.push_back(std::move(command));
}

void CommandBuffer::add_scheduled_handler(Handler handler) {
  if (status() >= CommandBufferStatus::committed) {
    fail_assertion("-[_MTLCommandBuffer addScheduledHandler:]", 806,
                   "Scheduled handler provided after commit call");
  }
  std::lock_guard lock(contents_);
  scheduled_.push_back(std::move(handler));
}

void CommandBuffer::add_completed_handler(Handler handler) {
  if (status() >= CommandBufferStatus::committed) {
    fail_assertion("-[_MTLCommandBuffer addCompletedHandler:]", 867,
                   "Completed handler provided after commit call");
  }
  std::lock_guard lock(contents_);
  completed_.push_back(std::move(handler));
}

void CommandBuffer::set_error(std::string description) {
  std::lock_guard lock(contents_);
  error_ = std::move(description);
}

void CommandBuffer::claim() {
  if (encoding_.load(std::memory_order_acquire)) {
    fail_assertion("-[IOGPUMetalCommandBuffer validate]", 214,
                   "commit command buffer with uncommitted encoder");
  }
  CommandBufferStatus expected = CommandBufferStatus::not_enqueued;
  if (!status_.compare_exchange_strong(expected, CommandBufferStatus::committed)) {
    fail_assertion("-[IOGPUMetalCommandBuffer validate]", 209,
                   "commit an already committed command buffer");
  }
}

void CommandBuffer::execute() {
  std::vector<std::function<void()>> commands;
  std::vector<Handler> scheduled;
  std::vector<Handler> completed;
  bool failed = false;
  {
    std::lock_guard lock(contents_);
    commands.swap(commands_);
    scheduled.swap(scheduled_);
    completed.swap(completed_);
    failed = !error_.empty();
  }
  status_.store(CommandBufferStatus::scheduled, std::memory_order_release);
  engine_->wait_while_stopped();
  for (const Handler& handler : scheduled) handler(*this);
  // A faulting buffer leaves its results unwritten.
  if (!failed) {
    for (const std::function<void()>& command : commands) command();
  }
  status_.store(failed ? CommandBufferStatus::error : CommandBufferStatus::completed,
                std::memory_order_release);
  for (const Handler& handler : completed) handler(*this);
  // Who waited finds nothing kept any more.
  commands.clear();
  scheduled.clear();
  completed.clear();
  give_place_back();
  done_.store(true, std::memory_order_release);
  done_.notify_all();
}

void CommandBuffer::give_place_back() {
  if (places_) std::exchange(places_, nullptr)->release();
}

void CommandBuffer::commit() {
  claim();
  execute();
}

void CommandBuffer::commit_to_engine(
    std::function<void(const std::function<void()>& execution)> around) {
  claim();
  engine_->submit([this, around = std::move(around)] { around([this] { execute(); }); });
}

void CommandBuffer::wait_until_completed() const {
  if (status() < CommandBufferStatus::committed) {
    fail_assertion("-[_MTLCommandBuffer waitUntilCompleted]", 0,
                   "waitUntilCompleted called before commit");
  }
  done_.wait(false, std::memory_order_acquire);
}

std::shared_ptr<CommandBuffer> CommandQueue::command_buffer() {
  places_->acquire();
  created_.fetch_add(1, std::memory_order_relaxed);
  return std::make_shared<CommandBuffer>(engine_, places_);
}

}  // namespace mpsprobe::sim::metal
