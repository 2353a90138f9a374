// What LibTorch asks of a device type besides its tensors: hooks and a guard.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/MPSHooksInterface.h>
#include <ATen/mps/MPSStream.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Exception.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>

#include "scenarios/stand_in/device.h"

namespace mpsprobe::stand_in {
namespace {

/// Events as torch.mps.Event has them (ATen/mps/MPSEvent.h, MPSEventPool): known by a number from
/// acquire() to release(). They belong to the default stream, whatever stream the thread has: in
/// 2.15.0 MPSEventPool::acquireEvent(bool) gives them the pool's m_default_stream. A number that is
/// none is an error in LibTorch's words. Any thread.
class Events {
 public:
  uint32_t acquire(bool timing);
  void release(uint32_t event);
  /// Signals it when the default stream has come to here, and commits that stream.
  void record(uint32_t event);
  /// Has the default stream wait for it, and commits that stream.
  void wait(uint32_t event);
  /// Returns when it was signalled; at once where it was not recorded.
  void synchronise(uint32_t event);
  bool signalled(uint32_t event);
  /// Milliseconds.
  double between(uint32_t start, uint32_t end);

 private:
  struct Event {
    bool timing = false;
    std::optional<std::chrono::steady_clock::time_point> signalled;
  };
  Event& in_use(uint32_t event);

  std::mutex mutex_;
  std::map<uint32_t, Event> in_use_;
  uint32_t last_ = 0;
};

// An event of the hooks is one of the default stream (LibTorch 2.15.0, MPSEventPool::acquireEvent):
// what the calling thread has on another, it neither marks nor holds back.
void require_default_stream(const char* method) {
  if (streams().current_number() == 0) return;
  sim::metal::fail_assertion(std::string("at::mps::MPSEvent::") + method, 0,
                             "SIMULATED rule: the event is one of the default stream, and the "
                             "calling thread's work is on another");
}

Events::Event& Events::in_use(uint32_t event) {
  const auto found = in_use_.find(event);
  TORCH_CHECK(found != in_use_.end(), "Invalid Event ID: ", event);
  return found->second;
}

uint32_t Events::acquire(bool timing) {
  const std::lock_guard lock(mutex_);
  in_use_[++last_] = {.timing = timing, .signalled = std::nullopt};
  return last_;
}

void Events::release(uint32_t event) {
  const std::lock_guard lock(mutex_);
  in_use(event);
  in_use_.erase(event);
}

void Events::record(uint32_t event) {
  require_default_stream("record");
  synchronise(event);
  // The simulated device has executed a buffer when its commit returns.
  streams().stream(0).synchronise();
  const std::lock_guard lock(mutex_);
  in_use(event).signalled = std::chrono::steady_clock::now();
}

void Events::wait(uint32_t event) {
  require_default_stream("wait");
  synchronise(event);
  // What was recorded has been executed: there is nothing left to wait for but the commit.
  streams().stream(0).synchronise();
}

void Events::synchronise(uint32_t event) {
  const std::lock_guard lock(mutex_);
  in_use(event);
}

bool Events::signalled(uint32_t event) {
  const std::lock_guard lock(mutex_);
  return in_use(event).signalled.has_value();
}

double Events::between(uint32_t start, uint32_t end) {
  const std::lock_guard lock(mutex_);
  const Event& first = in_use(start);
  const Event& second = in_use(end);
  TORCH_CHECK(first.timing && second.timing,
              "Events were not created with argument 'enable_timing=True'");
  TORCH_CHECK(first.signalled && second.signalled,
              "Both events must be recorded before calculating elapsed time");
  TORCH_CHECK(*second.signalled > *first.signalled, "End event ", end,
              " was not recorded after start event ", start);
  return std::chrono::duration<double, std::milli>(*second.signalled - *first.signalled).count();
}

/// The process's; never destroyed.
Events& events() {
  static auto* const all = new Events;
  return *all;
}

const at::Device kOnly{at::kMPS, 0};

/// As LibTorch's own MPSHooks; the registry's constructor takes what each release gives it.
struct Hooks final : at::MPSHooksInterface {
  void init() const override {}
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  // As on a Mac with an older system, or with a device that cannot be made, where it is asked for.
  bool hasMPS() const override {
    const char* const device = std::getenv("MPSPROBE_STAND_IN_DEVICE");
    if (device == nullptr) return true;
    TORCH_CHECK(std::string_view(device) != "broken", "SIMULATED: no device can be made");
    return std::string_view(device) != "none";
  }
  bool hasPrimaryContext(at::DeviceIndex) const override { return true; }
  bool isOnMacOSorNewer(unsigned, unsigned) const override { return true; }
  at::DeviceIndex deviceCount() const override { return 1; }
  at::DeviceIndex getCurrentDevice() const override { return 0; }
  void setCurrentDevice(at::DeviceIndex) const override {}
  at::DeviceIndex exchangeDevice(at::DeviceIndex) const override { return 0; }
  at::DeviceIndex maybeExchangeDevice(at::DeviceIndex) const override { return 0; }
  at::Device getDeviceFromPtr(void*) const override { return kOnly; }
  // The CPU computes, and its generator is what it draws from.
  const at::Generator& getDefaultGenerator(at::DeviceIndex) const override {
    return at::detail::getDefaultCPUGenerator();
  }
  at::Generator getNewGenerator(at::DeviceIndex) const override {
    return at::detail::createCPUGenerator();
  }
  at::Allocator* getMPSDeviceAllocator() const override { return c10::GetAllocator(at::kMPS); }
  // Each stream on its serial queue, as LibTorch 2.15 does.
  void deviceSynchronize() const override {
    at::mps::synchronizeAllMPSStreams(at::mps::SyncType::COMMIT_AND_WAIT);
  }
  void commitStream() const override { streams().current().synchronise(); }
  // What is open is ended, for an extension opens an encoder of its own (ATen/mps/MPSHooks.mm).
  void* getCommandBuffer() const override {
    at::mps::MPSStream* const stream = at::mps::getCurrentMPSStream();
    sim::SerialQueue& queue = streams().stream(stream->unwrap().id()).serial_queue();
    void* buffer = nullptr;
    const auto take = [&] {
      stream->endKernelCoalescing();
      buffer = stream->commandBuffer();
    };
    queue.here() ? take() : queue.run(take);
    return buffer;
  }
  void* getDispatchQueue() const override { return at::mps::getCurrentMPSStream()->queue(); }
  void emptyCache() const override {}
  uint32_t acquireEvent(bool timing) const override { return events().acquire(timing); }
  void releaseEvent(uint32_t event) const override { events().release(event); }
  void recordEvent(uint32_t event) const override { events().record(event); }
  void waitForEvent(uint32_t event) const override { events().wait(event); }
  void synchronizeEvent(uint32_t event) const override { events().synchronise(event); }
  bool queryEvent(uint32_t event) const override { return events().signalled(event); }
  double elapsedTimeOfEvents(uint32_t start, uint32_t end) const override {
    return events().between(start, end);
  }
};

struct Guard final : c10::impl::DeviceGuardImplInterface {
  explicit Guard(c10::DeviceType = c10::kMPS) {}
  c10::DeviceType type() const override { return c10::kMPS; }
  c10::Device exchangeDevice(c10::Device) const override { return kOnly; }
  c10::Device getDevice() const override { return kOnly; }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
  c10::Stream getStream(c10::Device) const override {
    return at::mps::getCurrentMPSStream()->unwrap();
  }
  c10::Stream getDefaultStream(c10::Device) const override {
    return at::mps::getDefaultMPSStream()->unwrap();
  }
  c10::Stream getNewStream(c10::Device, int) const override {
    return at::mps::getStreamFromPool()->unwrap();
  }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    const c10::Stream before = at::mps::getCurrentMPSStream()->unwrap();
    at::mps::setCurrentMPSStream(at::mps::getStreamByID(stream.id()));
    return before;
  }
  void synchronizeStream(const c10::Stream& stream) const override {
    streams().stream(stream.id()).synchronise();
  }
  void synchronizeDevice(c10::DeviceIndex) const override { streams().synchronise_all(); }
};

C10_REGISTER_GUARD_IMPL(MPS, Guard)

}  // namespace

}  // namespace mpsprobe::stand_in

namespace at {

// The key is the name by which LibTorch asks.
using MPSHooks = mpsprobe::stand_in::Hooks;
C10_REGISTER_CLASS(MPSHooksRegistry, MPSHooks, MPSHooks)

}  // namespace at
