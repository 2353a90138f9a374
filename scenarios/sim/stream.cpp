#include "scenarios/sim/stream.h"

#include <cstdio>

namespace mpsprobe::sim {
namespace {

// A buffer is committed when it holds this much work, so that a program which never synchronises
// does not grow without bound.
constexpr int kWorkPerBuffer = 64;

// One thread has one stream, and a process one pool.
thread_local Stream* tl_stream = nullptr;

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

metal::CommandBuffer& Stream::current() {
  if (!buffer_) {
    buffer_ = queue_->command_buffer();
    buffer_->add_completed_handler(tell_error);
    encoded_ = 0;
  }
  return *buffer_;
}

void Stream::commit() {
  if (!buffer_) return;
  // Reset first: a handler that looks at the stream must not find a committed buffer.
  const std::shared_ptr<metal::CommandBuffer> buffer = std::move(buffer_);
  buffer_ = nullptr;
  buffer->commit();
}

void Stream::encode(metal::Device& device, EncodePath path, std::string_view graph_key) {
  if (path == EncodePath::none) return;
  metal::GraphCache::Graph* graph =
      path == EncodePath::graph ? &device.graph_cache().find_or_compile(graph_key) : nullptr;
  std::lock_guard lock(serial_queue_);
  metal::CommandBuffer& buffer = current();
  metal::Encoder& encoder =
      path == EncodePath::blit ? buffer.blit_encoder() : buffer.compute_encoder();
  if (graph != nullptr) graph->encodes.fetch_add(1, std::memory_order_relaxed);
  encoder.encode([this] { executed_.fetch_add(1, std::memory_order_relaxed); });
  encoder.end_encoding();
  if (++encoded_ >= kWorkPerBuffer) commit();
}

void Stream::fail_current(std::string_view reason) {
  std::lock_guard lock(serial_queue_);
  current().set_error(std::string(reason));
  commit();
}

void Stream::synchronise() {
  std::lock_guard lock(serial_queue_);
  commit();
}

StreamPool::StreamPool(metal::Device& device, Streams streams)
    : streams_(streams), default_stream_(device) {
  for (size_t i = 0; i < kPoolSize; ++i) pool_.push_back(std::make_unique<Stream>(device));
}

Stream& StreamPool::next() {
  return *pool_[next_.fetch_add(1, std::memory_order_relaxed) % kPoolSize];
}

Stream& StreamPool::current() {
  if (tl_stream == nullptr) {
    tl_stream = streams_ == Streams::per_thread ? &next() : &default_stream_;
  }
  return *tl_stream;
}

void StreamPool::use_pool_stream() {
  tl_stream = &next();
}

void StreamPool::synchronise_all() {
  default_stream_.synchronise();
  for (const std::unique_ptr<Stream>& stream : pool_) stream->synchronise();
}

}  // namespace mpsprobe::sim
