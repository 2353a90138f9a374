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

namespace mpsprobe::sim {

/// A stream as PyTorch's MPS backend has it: a command queue, the command buffer being filled, and
/// a lock in the place of the serial dispatch queue. Any thread may use any stream.
class Stream : public EncodeTarget {
 public:
  explicit Stream(metal::Device& device) : queue_(device.new_command_queue()) {}

  /// Encodes one piece of work by `path` into the current command buffer and commits the buffer
  /// when it holds many. A graph is looked up in the device's cache by `graph_key`.
  void encode(metal::Device& device, EncodePath path, std::string_view graph_key);

  /// Makes the current command buffer fail on the device: what it holds is lost, and the completed
  /// handler tells on stderr, as LibTorch's does. The program is told nothing else.
  void fail_current(std::string_view reason) override;

  /// Commits what is open; returns when the device has done it.
  void synchronise();

  metal::CommandQueue& queue() override { return *queue_; }
  /// Pieces of work that the device has executed.
  uint64_t executed() const { return executed_.load(std::memory_order_relaxed); }

 private:
  metal::CommandBuffer& current();
  void commit();

  std::mutex serial_queue_;
  std::unique_ptr<metal::CommandQueue> queue_;
  std::shared_ptr<metal::CommandBuffer> buffer_;
  int encoded_ = 0;
  std::atomic<uint64_t> executed_ = 0;
};

/// The default stream and a pool of 32 that is handed out in turn.
class StreamPool {
 public:
  StreamPool(metal::Device& device, Streams streams);

  /// The calling thread's stream. A thread that did not ask for one has the default stream, or,
  /// where the profile says per-thread, takes one of the pool on first use.
  Stream& current();
  /// Gives the calling thread the next stream of the pool.
  void use_pool_stream();
  void synchronise_all();

 private:
  static constexpr size_t kPoolSize = 32;

  Stream& next();

  Streams streams_;
  Stream default_stream_;
  std::vector<std::unique_ptr<Stream>> pool_;
  std::atomic<size_t> next_ = 0;
};

}  // namespace mpsprobe::sim
