#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <semaphore>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

/// Metal's objects as far as their rules go: what may be called when, and the text with which Metal
/// ends a process that breaks a rule. Nothing here knows of LibTorch or of defects.
///
/// As with Metal itself, a device, a queue and a graph cache may be used by any thread, a command
/// buffer and its encoders by one thread at a time. Misuse by two threads is detected where the
/// interleaving makes it visible; the state is atomic, so that it is never undefined behaviour.
namespace mpsprobe::sim::metal {

/// Ends the process as Metal does: prints "PLACE:LINE: failed assertion `TEXT'" on stderr, then
/// abort(). `line` 0 leaves the line number out.
[[noreturn]] void fail_assertion(std::string_view place, int line, std::string_view text);

enum class CommandBufferStatus : uint32_t {
  not_enqueued,
  committed,
  scheduled,
  completed,
  error,
};

enum class EncoderKind : uint8_t { compute, blit };

class CommandBuffer;

/// What executes command buffers, of all queues of a device alike. Any thread.
class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  /// Waits for what was submitted, unless the engine was stopped.
  ~Engine();

  /// From now on nothing is executed, as after a GPU hang that nobody notices.
  void stop() { stopped_.store(true); }
  /// Returns while the engine executes, and never where it was stopped.
  void wait_while_stopped() const { stopped_.wait(true); }

  /// Has `work` done on the engine's own thread, after everything that was submitted before.
  void submit(std::function<void()> work);

 private:
  void execute();

  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  std::condition_variable submitted_;
  std::deque<std::function<void()>> work_;
  bool ending_ = false;
  std::thread thread_;  // from the first submission on
};

/// Records commands into one command buffer until `end_encoding`. Owned by its command buffer,
/// valid until that is destroyed.
class Encoder {
 public:
  explicit Encoder(CommandBuffer& buffer) : buffer_(buffer) {}

  /// Appends a command; it runs when the command buffer is executed, in encoding order. Asserts if
  /// the encoder has ended or its command buffer was committed.
  void encode(std::function<void()> command);
  /// Closes the encoder, so that the command buffer may open another or be committed. Asserts on a
  /// second call.
  void end_encoding();
  /// From end_encoding() on.
  bool ended() const { return ended_.load(std::memory_order_acquire); }

 private:
  CommandBuffer& buffer_;
  std::atomic<bool> ended_ = false;
};

/// One submission. At most one encoder is open at a time; nothing may be added after `commit`.
class CommandBuffer {
 public:
  using Handler = std::function<void(CommandBuffer&)>;

  /// How many command buffers a queue may have handed out that the device is not done with.
  using Places = std::counting_semaphore<>;

  /// Holds one of `places`, which the caller took, until the device is done with it or it is
  /// destroyed; null: none.
  explicit CommandBuffer(std::shared_ptr<Engine> engine, std::shared_ptr<Places> places = nullptr)
      : engine_(std::move(engine)), places_(std::move(places)) {}
  CommandBuffer(const CommandBuffer&) = delete;
  CommandBuffer& operator=(const CommandBuffer&) = delete;
  ~CommandBuffer() { give_place_back(); }

  /// Opens an encoder. Asserts "A command encoder is already encoding to this command buffer" while
  /// another is open, and `_status < MTLCommandBufferStatusCommitted` after commit.
  Encoder& compute_encoder() { return open_encoder(EncoderKind::compute); }
  Encoder& blit_encoder() { return open_encoder(EncoderKind::blit); }

  /// Appends a command of no encoder's, such as an event's. Asserts after commit.
  void add_command(std::function<void()> command);

  /// Called when the buffer is handed to the device. Asserts after commit.
  void add_scheduled_handler(Handler handler);
  /// Called when the device is done, also after an error. Asserts after commit.
  void add_completed_handler(Handler handler);

  /// Submits, and returns when the simulated device has executed the buffer, on the calling thread.
  /// Asserts if an encoder is open or the buffer was committed before.
  void commit();
  /// Submits, as Metal does: the engine executes the buffer on its own thread, after everything
  /// that was committed before. `around` is called there and has to call `execution`; it keeps the
  /// buffer alive. Asserts as above.
  void commit_to_engine(std::function<void(const std::function<void()>& execution)> around);
  /// Returns when the device is done with the buffer and its handlers were called. Asserts before
  /// commit, where the wait would never end.
  void wait_until_completed() const;

  /// Makes the execution end with an error of this description, as a faulting shader would. Call
  /// before commit.
  void set_error(std::string description);

  /// An encoder is open.
  bool encoding() const { return encoding_.load(std::memory_order_acquire); }
  CommandBufferStatus status() const { return status_.load(std::memory_order_acquire); }
  /// Empty unless status() is error.
  const std::string& error() const { return error_; }

 private:
  friend class Encoder;

  Encoder& open_encoder(EncoderKind kind);
  void claim();
  void execute();
  void require_recording(std::string_view method) const;
  void give_place_back();

  std::shared_ptr<Engine> engine_;
  std::shared_ptr<Places> places_;
  std::atomic<CommandBufferStatus> status_ = CommandBufferStatus::not_enqueued;
  std::atomic<bool> encoding_ = false;
  std::atomic<bool> done_ = false;  // executed, and the handlers called
  std::mutex contents_;  // of the vectors only; the rules are checked on the atomics above
  std::vector<std::unique_ptr<Encoder>> encoders_;
  std::vector<std::function<void()>> commands_;
  std::vector<Handler> scheduled_;
  std::vector<Handler> completed_;
  std::string error_;
};

/// Hands out command buffers.
class CommandQueue {
 public:
  explicit CommandQueue(std::shared_ptr<Engine> engine) : engine_(std::move(engine)) {}
  /// The most command buffers of one queue at a time, by Metal's default (newCommandQueue).
  static constexpr int kMostBuffers = 64;

  /// A fresh command buffer; shared ownership, since handlers may outlive the caller's interest.
  /// Where kMostBuffers are out, returns when the device is done with one or one is destroyed: for
  /// ever, where nobody commits any.
  std::shared_ptr<CommandBuffer> command_buffer();
  /// How many command buffers this queue has handed out.
  uint64_t created() const { return created_.load(std::memory_order_relaxed); }
  Engine& engine() { return *engine_; }

 private:
  std::shared_ptr<Engine> engine_;
  std::shared_ptr<CommandBuffer::Places> places_ =
      std::make_shared<CommandBuffer::Places>(kMostBuffers);
  std::atomic<uint64_t> created_ = 0;
};

/// The one device of a process.
class Device {
 public:
  std::unique_ptr<CommandQueue> new_command_queue() {
    return std::make_unique<CommandQueue>(engine_);
  }
  std::string_view name() const { return "simulated Metal device"; }

 private:
  std::shared_ptr<Engine> engine_ = std::make_shared<Engine>();
};

}  // namespace mpsprobe::sim::metal
