#include "scenarios/sim/recorder.h"

#include <atomic>
#include <utility>

namespace mpsprobe::sim {
namespace {

std::atomic<MakeRecorder> other = nullptr;

class Direct final : public Recorder {
 public:
  explicit Direct(metal::Device& device) : device_(device), queue_(device.new_command_queue()) {}

  metal::CommandQueue& queue() override { return *queue_; }
  std::shared_ptr<metal::CommandBuffer> begin() override {
    return buffer_ = queue_->command_buffer();
  }
  metal::Encoder& open(metal::EncoderKind kind) override {
    encoder_ =
        kind == metal::EncoderKind::blit ? &buffer_->blit_encoder() : &buffer_->compute_encoder();
    return *encoder_;
  }
  void end() override { std::exchange(encoder_, nullptr)->end_encoding(); }
  void commit() override { std::exchange(buffer_, nullptr)->commit(); }
  void* handed(Part part) override {
    if (part == Part::device) return &device_;
    if (part == Part::queue) return queue_.get();
    return part == Part::buffer ? static_cast<void*>(buffer_.get()) : encoder_;
  }

 private:
  metal::Device& device_;
  std::unique_ptr<metal::CommandQueue> queue_;
  std::shared_ptr<metal::CommandBuffer> buffer_;
  metal::Encoder* encoder_ = nullptr;
};

}  // namespace

void record_with(MakeRecorder make) {
  other.store(make);
}

std::unique_ptr<Recorder> make_recorder(metal::Device& device) {
  const MakeRecorder make = other.load();
  return make != nullptr ? make() : std::make_unique<Direct>(device);
}

}  // namespace mpsprobe::sim
