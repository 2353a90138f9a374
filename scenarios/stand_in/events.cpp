#include "scenarios/stand_in/events.h"

#include <c10/util/Exception.h>

#include "scenarios/stand_in/device.h"

namespace mpsprobe::stand_in {
namespace {

// An event of the hooks is one of the default stream (LibTorch 2.15.0, MPSEventPool::acquireEvent):
// what the calling thread has on another, it neither marks nor holds back.
void require_default_stream(const char* method) {
  if (streams().current_number() == 0) return;
  sim::metal::fail_assertion(std::string("at::mps::MPSEvent::") + method, 0,
                             "SIMULATED rule: the event is one of the default stream, and the "
                             "calling thread's work is on another");
}

}  // namespace

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
  {
    const std::lock_guard lock(mutex_);
    in_use(event);
  }
  // The simulated device has executed a buffer when its commit returns.
  streams().stream(0).synchronise();
  const std::lock_guard lock(mutex_);
  in_use(event).signalled = std::chrono::steady_clock::now();
}

void Events::wait(uint32_t event) {
  require_default_stream("wait");
  {
    const std::lock_guard lock(mutex_);
    in_use(event);
  }
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

Events& events() {
  static auto* const all = new Events;
  return *all;
}

}  // namespace mpsprobe::stand_in
