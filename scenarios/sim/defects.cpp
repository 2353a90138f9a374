#include "scenarios/sim/defects.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <semaphore>
#include <thread>
#include <tuple>
#include <utility>

namespace mpsprobe::sim {
namespace {

std::atomic<bool> ending = false;  // the process: exit() runs what was registered
std::atomic<int> teardown_us = 0;  // of the defect that takes longest

/// What destroys the device's objects when a program's main returns, beside threads that go on.
void tear_down() {
  ending.store(true, std::memory_order_release);
  std::this_thread::sleep_for(std::chrono::microseconds(teardown_us.load()));
}

void defective_from_exit_on(int hold_us) {
  static const int registered = std::atexit(tear_down);
  static_cast<void>(registered);
  if (hold_us > teardown_us.load()) teardown_us.store(hold_us);
}

}  // namespace

/// What one encode works on. The padding puts the field where a null pointer gives the address that
/// the reports saw: 0x5c8.
struct EncodeState {
  char other_fields[0x5c8];
  uint64_t pipeline_state;
};

/// A kernel or graph that all threads share although it has only so many encode slots.
class SharedKernel {
 public:
  explicit SharedKernel(const Defect& defect)
      : defect_(defect), states_(static_cast<size_t>(defect.slots)) {}

  void encode(EncodeTarget& target, EncodeResult& result) {
    if (defect_.until_initialised && initialised_.load(std::memory_order_acquire)) return;
    if (defect_.from_encode > 1 && next_encode_of_thread() < defect_.from_encode) return;
    if (defect_.at_exit && !ending.load(std::memory_order_acquire)) return;
    const uint64_t entered = entered_.fetch_add(1, std::memory_order_acq_rel);
    const size_t slot = inside_.fetch_add(1, std::memory_order_acq_rel);
    const bool safe = defect_.once_warm && !warm_.load(std::memory_order_acquire);
    if (slot >= states_.size() && !safe) {
      beyond(slot, target, result);
    } else if (defect_.hold_us > 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(defect_.hold_us));
    }
    initialised_.store(true, std::memory_order_release);
    // The first to come, and nobody came while it was inside.
    if (entered == 0 && entered_.load(std::memory_order_acquire) == 1) {
      warm_.store(true, std::memory_order_release);
    }
    inside_.fetch_sub(1, std::memory_order_acq_rel);
  }

 private:
  /// 1 for the first encode of this thread.
  int next_encode_of_thread() {
    const std::lock_guard<std::mutex> lock(encodes_mutex_);
    return ++encodes_[std::this_thread::get_id()];
  }

  void beyond(size_t slot, EncodeTarget& target, EncodeResult& result) {
    switch (defect_.beyond) {
      case Beyond::null_dereference:
        set_pipeline_state(slot);
        return;
      case Beyond::assertion:
        break_rule(target.queue(), defect_.text, defect_.place);
      case Beyond::exception:
        result.exception = &defect_.text;
        return;
      case Beyond::hang:
        never_released_.acquire();
        return;
      case Beyond::wrong_numbers:
        result.wrong_numbers = true;
        return;
      case Beyond::gpu_error:
        target.fail_current("Internal Error (0000000e:Internal Error)");
        return;
      case Beyond::gpu_hang:
        target.queue().engine().stop();
        return;
    }
  }

  // Not inlined, and through a volatile pointer: a compiler that sees the null pointer may replace
  // the access by a trap, and the signal would be another one.
  [[gnu::noinline]] EncodeState* state_of(size_t slot) {
    return slot < states_.size() ? &states_[slot] : nullptr;
  }
  // Not instrumented: a sanitised build must die of the access itself.
  [[gnu::noinline]] __attribute__((no_sanitize("undefined"))) void set_pipeline_state(size_t slot) {
    EncodeState* volatile state = state_of(slot);
    const_cast<volatile EncodeState*>(state)->pipeline_state = slot;
  }

  const Defect defect_;
  std::vector<EncodeState> states_;
  std::atomic<size_t> inside_ = 0;
  std::atomic<bool> initialised_ = false;
  std::atomic<uint64_t> entered_ = 0;
  std::atomic<bool> warm_ = false;  ///< the first encode was alone to its end
  std::mutex encodes_mutex_;
  std::map<std::thread::id, int> encodes_;
  std::binary_semaphore never_released_{0};
};

DefectEngine::DefectEngine(const Profile& profile, const std::function<double()>& draw)
    : by_operation_(operations().size()) {
  for (const Defect& defect : profile.defects) {
    if (!defect.in_this_environment()) continue;
    if (defect.rate < 1 && draw() >= defect.rate) continue;
    if (defect.at_exit) defective_from_exit_on(defect.hold_us);
    overwrites_results_ |= defect.beyond == Beyond::wrong_numbers;
    throws_ |= defect.beyond == Beyond::exception;
    // Operations that encode the same kernel (ones, full, fill_) meet in the same object.
    std::map<std::pair<std::string_view, EncodePath>, SharedKernel*> shared;
    for (size_t i = 0; i < operations().size(); ++i) {
      const Operation& operation = operations()[i];
      for (const EncodePath path : {EncodePath::blit, EncodePath::nograph, EncodePath::graph}) {
        if (!defect.concerns(operation, path)) continue;
        SharedKernel*& kernel =
            defect.one_object ? shared[{"", EncodePath::none}] : shared[{operation.kernel, path}];
        if (kernel == nullptr) {
          kernel = owned_.emplace_back(std::make_unique<SharedKernel>(defect)).get();
        }
        by_operation_[i][static_cast<size_t>(path)].push_back(kernel);
      }
    }
  }
}

DefectEngine::~DefectEngine() = default;

EncodeResult DefectEngine::encode(const Operation& operation, EncodePath path,
                                  EncodeTarget& target) {
  EncodeResult result;
  const auto index = static_cast<size_t>(&operation - operations().data());
  for (SharedKernel* kernel : by_operation_[index][static_cast<size_t>(path)]) {
    kernel->encode(target, result);
  }
  return result;
}

void break_rule(metal::CommandQueue& queue, const std::string& text, const std::string& place) {
  // As if another thread had done its part on a command buffer that both believe to own.
  const std::shared_ptr<metal::CommandBuffer> buffer = queue.command_buffer();
  const bool has_place_of_its_own = !place.empty();
  if (has_place_of_its_own) {
    metal::fail_assertion(place, 0, text);
  } else if (text == "Scheduled handler provided after commit call") {
    buffer->commit();
    buffer->add_scheduled_handler([](metal::CommandBuffer&) {});
  } else if (text == "Completed handler provided after commit call") {
    buffer->commit();
    buffer->add_completed_handler([](metal::CommandBuffer&) {});
  } else if (text == "commit command buffer with uncommitted encoder") {
    buffer->compute_encoder();
    buffer->commit();
  } else if (text == "commit an already committed command buffer") {
    buffer->commit();
    buffer->commit();
  } else if (text == "A command encoder is already encoding to this command buffer") {
    buffer->compute_encoder();
    buffer->compute_encoder();
  } else if (text.starts_with("_status < MTLCommandBufferStatusCommitted")) {
    buffer->commit();
    buffer->compute_encoder();
  }
  metal::fail_assertion("-[IOGPUMetalCommandBuffer validate]", 0, text);
}

}  // namespace mpsprobe::sim
