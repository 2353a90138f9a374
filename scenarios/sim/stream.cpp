#include "scenarios/sim/stream.h"

#include <cstdio>
#include <utility>

namespace mpsprobe::sim {
namespace {

// A buffer is committed when it holds this much work, so that a program which never synchronises
// does not grow without bound.
constexpr int kWorkPerBuffer = 64;

// One thread has one stream, and a process one pool.
constexpr int64_t kNotAsked = -1;
thread_local int64_t tl_stream = kNotAsked;

void tell_error(metal::CommandBuffer& buffer) {
  if (buffer.status() != metal::CommandBufferStatus::error) return;
  const std::string message =
      "Error: command buffer exited with error status.\n"
      "\tThe Metal Performance Shaders operations encoded on it may not have completed.\n"
      "\tError:\n\t(null)\n\t" +
      buffer.error() + "\n\t<AGXG16XFamilyCommandBuffer: simulated>\n";
  std::fwrite(message.data(), 1, message.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

Recorder& Stream::recorder() {
  std::call_once(first_use_, [this] { recorder_ = make_recorder(device_); });
  return *recorder_;
}

const std::shared_ptr<metal::CommandBuffer>& Stream::current() {
  if (!buffer_) {
    buffer_ = recorder().begin();
    buffer_->add_completed_handler(tell_error);
    encoded_ = 0;
  }
  return buffer_;
}

metal::Encoder& Stream::open_encoder() {
  if (encoder_ == nullptr) {
    current();
    encoder_ = &recorder().open(metal::EncoderKind::compute);
  }
  return *encoder_;
}

void Stream::end_encoder() {
  if (std::exchange(encoder_, nullptr) != nullptr) recorder().end();
}

void Stream::commit() {
  if (!buffer_) return;
  end_encoder();
  // Reset first: a handler that looks at the stream must not find a committed buffer.
  buffer_ = nullptr;
  recorder().commit();
}

void Stream::encode(EncodePath path) {
  if (path == EncodePath::none) return;
  serial_queue_.run([&] {
    const auto command = [this] { executed_.fetch_add(1, std::memory_order_relaxed); };
    if (path == EncodePath::nograph) {
      open_encoder().encode(command);
    } else {
      end_encoder();
      current();
      metal::Encoder& own = recorder().open(path == EncodePath::blit ? metal::EncoderKind::blit
                                                                     : metal::EncoderKind::compute);
      own.encode(command);
      recorder().end();
    }
    if (++encoded_ >= kWorkPerBuffer) commit();
  });
}

void Stream::fail_current(std::string_view reason) {
  serial_queue_.run([&] {
    current()->set_error(std::string(reason));
    commit();
  });
}

void Stream::synchronise() {
  serial_queue_.run([this] { commit(); });
}

StreamPool::StreamPool(metal::Device& device, Streams streams)
    : streams_(streams), default_stream_(device) {
  for (int64_t i = 0; i < kPoolSize; ++i) pool_.push_back(std::make_unique<Stream>(device));
}

int64_t StreamPool::next_number() {
  return 1 + next_.fetch_add(1, std::memory_order_relaxed) % kPoolSize;
}

int64_t StreamPool::current_number() {
  if (tl_stream == kNotAsked) {
    tl_stream = streams_ == Streams::per_thread ? next_number() : 0;
  }
  return tl_stream;
}

Stream& StreamPool::current() {
  return stream(current_number());
}

void StreamPool::use(int64_t number) {
  tl_stream = number;
}

void StreamPool::use_pool_stream() {
  use(next_number());
}

void StreamPool::synchronise_all() {
  for (int64_t number = 0; number <= kPoolSize; ++number) stream(number).synchronise();
}

}  // namespace mpsprobe::sim
