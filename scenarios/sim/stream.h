#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/sim/encode_target.h"
#include "scenarios/sim/metal.h"
#include "scenarios/sim/profile.h"
#include "scenarios/sim/recorder.h"
#include "scenarios/sim/serial_queue.h"

namespace mpsprobe::sim {

/// A stream as PyTorch's MPS backend has it: a command queue, the command buffer being filled, and
/// the serial queue that both belong to. Any thread may use any stream, but for the functions that
/// name the serial queue.
class Stream : public EncodeTarget {
 public:
  explicit Stream(metal::Device& device) : device_(device) {}

  /// Encodes one piece of work by `path` into the current command buffer and commits the buffer
  /// when it holds many.
  void encode(EncodePath path);

  /// Makes the current command buffer fail on the device: what it holds is lost, and the completed
  /// handler tells on stderr, as LibTorch's does. The program is told nothing else.
  void fail_current(std::string_view reason) override;

  /// Commits what is open; returns when the device has done it.
  void synchronise();

  metal::CommandQueue& queue() override { return recorder().queue(); }
  Recorder& recorder();

  SerialQueue& serial_queue() { return serial_queue_; }
  /// The command buffer that is being filled. In a block of the serial queue alone.
  const std::shared_ptr<metal::CommandBuffer>& current();
  /// The compute encoder, which stays open from one kernel to the next until something else needs
  /// the command buffer. In a block of the serial queue alone.
  metal::Encoder& open_encoder();
  /// Ends it, where one is open. In a block of the serial queue alone.
  void end_encoder();
  /// Commits what is open and waits. In a block of the serial queue alone.
  void commit();

  /// Pieces of work that the device has executed.
  uint64_t executed() const { return executed_.load(std::memory_order_relaxed); }

 private:
  SerialQueue serial_queue_;
  metal::Device& device_;
  std::once_flag first_use_;
  std::unique_ptr<Recorder> recorder_;
  std::shared_ptr<metal::CommandBuffer> buffer_;
  metal::Encoder* encoder_ = nullptr;
  int encoded_ = 0;
  std::atomic<uint64_t> executed_ = 0;
};

/// The default stream and a pool of 32 that is handed out in turn.
class StreamPool {
 public:
  static constexpr int64_t kPoolSize = 32;

  StreamPool(metal::Device& device, Streams streams);

  /// The calling thread's stream. A thread that did not ask for one has the default stream, or,
  /// where the profile says per-thread, takes one of the pool on first use.
  Stream& current();
  /// Gives the calling thread the next stream of the pool.
  void use_pool_stream();

  /// Streams by number: 0 is the default stream, 1 to kPoolSize are the pool's.
  Stream& stream(int64_t number) {
    return number == 0 ? default_stream_ : *pool_[static_cast<size_t>(number - 1)];
  }
  /// The number of current(), and of the one that the pool hands out next.
  int64_t current_number();
  int64_t next_number();
  /// Gives the calling thread that stream.
  void use(int64_t number);
  void synchronise_all();

 private:
  Streams streams_;
  Stream default_stream_;
  std::vector<std::unique_ptr<Stream>> pool_;
  std::atomic<int64_t> next_ = 0;
};

}  // namespace mpsprobe::sim
