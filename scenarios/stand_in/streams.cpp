// PyTorch's streams (ATen/mps/MPSStream.h, MPSDevice.h) on the simulated Metal device, with
// PyTorch's own rules: what a stream records into belongs to its serial queue. Where that is
// broken, LibTorch goes wrong now and then, and the stand-in ends the process each time.
#include <ATen/mps/MPSDevice.h>
#include <ATen/mps/MPSStream.h>

#include <array>
#include <memory>
#include <string>

#include "scenarios/stand_in/device.h"

namespace {

using SimulatedStream = mpsprobe::sim::Stream;
using mpsprobe::sim::StreamPool;
using Part = mpsprobe::sim::Recorder::Part;
namespace stand_in = mpsprobe::stand_in;

SimulatedStream& simulated(const at::mps::MPSStream& stream) {
  return stand_in::streams().stream(stream.unwrap().id());
}

void require_queue(const at::mps::MPSStream& stream, const char* method) {
  if (simulated(stream).serial_queue().here()) return;
  mpsprobe::sim::metal::fail_assertion(
      std::string("at::mps::MPSStream::") + method, 0,
      "SIMULATED rule: call it from a block running on the stream's queue()");
}

thread_local int queues = 0;  // that the calling thread runs on

}  // namespace

extern "C" __attribute__((visibility("default"))) void dispatch_sync_f(dispatch_queue_t queue,
                                                                       void* context,
                                                                       void (*work)(void*)) {
  reinterpret_cast<mpsprobe::sim::SerialQueue*>(queue)->run([&] {
    ++queues;
    const std::unique_ptr<int, void (*)(int*)> left(&queues, [](int* count) { --*count; });
    work(context);
  });
}

// All queues here are PyTorch's, which have one name (ATen/mps/MPSStream.mm).
extern "C" __attribute__((visibility("default"))) const char* dispatch_queue_get_label(
    dispatch_queue_t queue) {
  return queue != DISPATCH_CURRENT_QUEUE_LABEL || queues > 0 ? "metal gpu stream" : "";
}

namespace at::mps {

MPSStream::MPSStream(Stream stream) : _stream(stream) {
  TORCH_CHECK(stream.device_type() == DeviceType::MPS, "not a stream of MPS: ", stream);
  SimulatedStream& simulation = simulated(*this);
  _commandQueue = simulation.recorder().handed(Part::queue);
  _serialQueue = reinterpret_cast<dispatch_queue_t>(&simulation.serial_queue());
}

MPSStream::~MPSStream() = default;

MPSCommandBuffer_t MPSStream::commandBuffer() {
  require_queue(*this, "commandBuffer");
  SimulatedStream& simulation = simulated(*this);
  simulation.current();
  return simulation.recorder().handed(Part::buffer);
}

MTLComputeCommandEncoder_t MPSStream::commandEncoder() {
  require_queue(*this, "commandEncoder");
  SimulatedStream& simulation = simulated(*this);
  simulation.open_encoder();
  return simulation.recorder().handed(Part::encoder);
}

void MPSStream::endKernelCoalescing() {
  require_queue(*this, "endKernelCoalescing");
  simulated(*this).end_encoder();
}

void MPSStream::synchronize(SyncType kind) {
  require_queue(*this, "synchronize");
  simulated(*this).end_encoder();
  // The simulated device executes a buffer when it is committed: every kind of commit waits.
  if (kind != SyncType::NONE) simulated(*this).commit();
}

MTLDevice_t MPSStream::device() const {
  return MPSDevice::getInstance()->device();
}

namespace {

/// Of all streams: number 0 is the default one. Never destroyed, as the simulation.
MPSStream* stream_of(int64_t number) {
  static auto* const all = [] {
    auto* const made =
        new std::array<std::unique_ptr<MPSStream>, static_cast<size_t>(StreamPool::kPoolSize) + 1>;
    for (int64_t each = 0; each <= StreamPool::kPoolSize; ++each) {
      (*made)[static_cast<size_t>(each)] =
          std::make_unique<MPSStream>(Stream(Stream::UNSAFE, {kMPS, 0}, each));
    }
    return made;
  }();
  return all->at(static_cast<size_t>(number)).get();
}

}  // namespace

MPSStream* getCurrentMPSStream() {
  return stream_of(stand_in::streams().current_number());
}
void setCurrentMPSStream(MPSStream* stream) {
  stand_in::streams().use(stream == nullptr ? 0 : stream->unwrap().id());
}
MPSStream* getDefaultMPSStream() {
  return stream_of(0);
}
MPSStream* getStreamFromPool() {
  return stream_of(stand_in::streams().next_number());
}
MPSStream* getStreamByID(int64_t stream_id) {
  TORCH_CHECK(stream_id >= 0 && stream_id <= StreamPool::kPoolSize, "no stream ", stream_id);
  return stream_of(stream_id);
}
void synchronizeAllMPSStreams(SyncType kind) {
  for (int64_t number = 0; number <= StreamPool::kPoolSize; ++number) {
    MPSStream* const stream = stream_of(number);
    simulated(*stream).serial_queue().run([&] { stream->synchronize(kind); });
  }
}

MPSStream* MPSStreamImpl::_stream = nullptr;
MPSStream* MPSStreamImpl::getInstance() {
  return getDefaultMPSStream();
}

MPSDevice* MPSDevice::_device = nullptr;
MPSDevice::MPSDevice()
    : _mtl_device(stand_in::streams().stream(0).recorder().handed(Part::device)) {}
MPSDevice::~MPSDevice() = default;  // NOLINT(performance-trivially-destructible): as declared
MPSDevice* MPSDevice::getInstance() {
  static MPSDevice* const device = _device = new MPSDevice;
  return device;
}
std::string MPSDevice::getName() const {
  return std::string(stand_in::device().name());
}
bool is_available() {
  return true;
}
at::Allocator* GetMPSAllocator() {
  return c10::GetAllocator(kMPS);
}

}  // namespace at::mps
