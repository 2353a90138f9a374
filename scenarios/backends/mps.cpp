#include <ATen/detail/MPSHooksInterface.h>
#include <ATen/mps/MPSDevice.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <atomic>
#include <exception>
#include <nlohmann/json.hpp>

#include "scenarios/backends/each_backend.h"
#include "scenarios/backends/mps_machine.h"
#include "scenarios/objective_c/metal_probe.h"
#include "scenarios/operations/torch_errors.h"
#include "scenarios/worker/workload.h"

#ifdef MPSPROBE_HAS_MPS_STREAM_POOL
#include <ATen/mps/MPSStream.h>
#endif

// PyTorch's MPS backend through the calls that a user's program makes, and none below them: what
// fails here must fail there. docs/macos.md has the table of them, and a test holds this file to
// it. LibTorch 2.15 and later has a pool of streams; earlier releases have one, which all threads
// share.

namespace mpsprobe {
namespace {

// Size of the pool (ATen/mps/MPSStream.h). It hands its streams out in turn, so that one more
// thread would share a stream with another.
constexpr int kPoolStreams = 32;

constexpr const char* kNoMps =
    "LibTorch finds no MPS device: 2.15 needs macOS 15.0 or later, 2.9 macOS 14.0, and both a "
    "Metal device";

#ifdef MPSPROBE_HAS_MPS_STREAM_POOL
/// As torch.mps.Stream.synchronize does: a stream belongs to its serial queue, and whoever takes it
/// elsewhere ends an encoder that another thread is writing with. What is thrown there is thrown
/// here.
void wait_for(at::mps::MPSStream* stream) {
  struct Call {
    at::mps::MPSStream* stream;
    std::exception_ptr problem;
  } call{stream, nullptr};
  dispatch_sync_f(stream->queue(), &call, [](void* context) {
    auto* const call = static_cast<Call*>(context);
    try {
      call->stream->synchronize(at::mps::SyncType::COMMIT_AND_WAIT);
    } catch (...) {
      call->problem = std::current_exception();
    }
  });
  if (call.problem) std::rethrow_exception(call.problem);
}
#endif

/// As torch.mps.Event does: record, synchronize. On the default stream (LibTorch 2.15.0,
/// MPSEventPool::acquireEvent(bool)), which open_mps() sees to.
void wait_for_event() {
  const at::MPSHooksInterface& hooks = at::detail::getMPSHooks();
  const uint32_t event = hooks.acquireEvent(false);
  hooks.recordEvent(event);
  hooks.synchronizeEvent(event);
  hooks.releaseEvent(event);
}

class MpsDevice : public Device {
 public:
  explicit MpsDevice(WaitFor wait) : wait_(wait) {}

  at::Device torch_device() const override { return {at::kMPS, 0}; }

  void touch() override {
    // Asked here and not when the device is opened: the question itself makes the Metal device, and
    // with init=threads the threads are to be the first.
    if (!at::detail::getMPSHooks().hasMPS()) {
      throw UnsupportedError(std::string("backend mps: ") + kNoMps);
    }
    at::zeros({1}, at::TensorOptions().device(torch_device()));
    synchronise();
    // With init=threads nothing is made here: the probe would be part of what is tested.
    probe_queue_.store(make_probe_queue(at::mps::MPSDevice::getInstance()->device()));
  }

#ifdef MPSPROBE_HAS_MPS_STREAM_POOL
  void enter_thread(StreamUse use) override {
    if (use == StreamUse::per_thread) {
      at::mps::setCurrentMPSStream(at::mps::getStreamFromPool());
    }
  }
#else
  void enter_thread(StreamUse) override {}
#endif
  void synchronise() override {
    if (wait_ == WaitFor::event) return wait_for_event();
#ifdef MPSPROBE_HAS_MPS_STREAM_POOL
    if (wait_ == WaitFor::stream) return wait_for(at::mps::getCurrentMPSStream());
#endif
    settle();
  }
  void settle() override {
    at::detail::getMPSHooks().deviceSynchronize();
  }

  // As torch.mps.Event with its time, empty_cache, current_allocated_memory, profiler.start and
  // stop.
  void beside(BesideThreads what) override {
    const at::MPSHooksInterface& hooks = at::detail::getMPSHooks();
    if (what == BesideThreads::wait) {
      settle();
    } else if (what == BesideThreads::event) {
      const uint32_t start = hooks.acquireEvent(true);
      const uint32_t end = hooks.acquireEvent(true);
      hooks.recordEvent(start);
      hooks.recordEvent(end);
      hooks.elapsedTimeOfEvents(start, end);
      hooks.releaseEvent(start);
      hooks.releaseEvent(end);
    } else if (what == BesideThreads::cache) {
      hooks.emptyCache();
    } else if (what == BesideThreads::statistics) {
      hooks.getCurrentAllocatedMemory();
      hooks.getDriverAllocatedMemory();
    } else {
      traces_ ? hooks.profilerStopTrace() : hooks.profilerStartTrace("interval", false);
      traces_ = !traces_;
    }
  }

  at::Tensor upload(const at::Tensor& tensor) override {
    return tensor.to(torch_device());
  }

  Probe probe(const std::function<void()>& submitted) override {
    void* const queue = probe_queue_.load();
    return queue == nullptr ? Probe::impossible : probe_metal(queue, submitted);
  }

  // LibTorch tells it in its profile log alone, which disturbs what is tested: the runner asks a
  // process of its own.
  std::string observed_path(std::string_view) override {
    return std::string(kNotObserved);
  }

  nlohmann::json description() const override {
    nlohmann::json description = describe_mps();
    description["backend"] = "mps";
    return description;
  }

 private:
  const WaitFor wait_;
  bool traces_ = false;  // one thread asks for it
  std::atomic<void*> probe_queue_{nullptr};
};

}  // namespace

std::unique_ptr<Device> open_mps(const Cell& cell) {
  if (cell.stream == StreamUse::per_thread) {
#ifdef MPSPROBE_HAS_MPS_STREAM_POOL
    if (cell.threads > kPoolStreams) {
      throw UnsupportedError(
          fmt::format("stream=per-thread: LibTorch's pool has {} streams and the cell has {} "
                      "threads. Use threads={} or fewer, or stream=default",
                      kPoolStreams, cell.threads, kPoolStreams));
    }
#else
    static_cast<void>(kPoolStreams);
    throw UnsupportedError(
        "stream=per-thread: the LibTorch of this worker has no pool of MPS streams. Use LibTorch "
        "2.15 or later, or stream=default");
#endif
  }
#ifndef MPSPROBE_HAS_MPS_STREAM_POOL
  if (cell.wait == WaitFor::stream) {
    throw UnsupportedError(
        "wait=stream: the LibTorch of this worker has one stream alone, which wait=device waits "
        "for. Use LibTorch 2.15 or later, or wait=device");
  }
#endif
  if (cell.wait == WaitFor::event && cell.stream == StreamUse::per_thread) {
    throw UnsupportedError(
        "wait=event: LibTorch's events for users belong to the default stream, and with "
        "stream=per-thread the work is on others. Use stream=default, or wait=stream");
  }
  prepare_mps(cell);
  return std::make_unique<MpsDevice>(cell.wait);
}

BackendReport report_mps() {
  BackendReport report{.backend = Backend::mps, .simulated = mps_is_simulated()};
  try {
    with_worker_errors([&] {
      report.available = at::detail::getMPSHooks().hasMPS();
      if (report.available) {
#ifdef MPSPROBE_LIBTORCH_BEFORE_2_9  // its device tells no name
        report.device = describe_mps().at("device");
#else
        report.device = at::mps::MPSDevice::getInstance()->getName();
#endif
      } else {
        report.reason = kNoMps;
      }
    });
  } catch (const std::exception& error) {
    report.available = false;
    report.reason = error.what();
  }
  return report;
}

}  // namespace mpsprobe
