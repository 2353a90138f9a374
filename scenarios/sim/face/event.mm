#include <Block.h>

#include <condition_variable>
#include <mutex>
#include <vector>

#include "scenarios/objective_c/owned.h"
#include "scenarios/sim/face/objects.h"

namespace mpsprobe::sim::face {

/// The C++ half of an event. A listener's blocks are called on the thread that signals.
struct EventState {
  struct Listener {
    uint64_t value;
    std::shared_ptr<void> block;
  };
  std::mutex mutex;
  std::condition_variable signalled;
  uint64_t value = 0;
  std::vector<Listener> listeners;
};

}  // namespace mpsprobe::sim::face

using mpsprobe::sim::face::EventState;

@implementation MTLSharedEventListener
@end

@implementation SimulatedEvent
- (id)init {
  if ((self = [super init]) != nil) state_ = new EventState;
  return self;
}
- (void)dealloc {
  delete state_;
  [super dealloc];
}
- (uint64_t)signaledValue {
  const std::lock_guard lock(state_->mutex);
  return state_->value;
}
- (void)setSignaledValue:(uint64_t)value {
  std::vector<EventState::Listener> due;
  {
    const std::lock_guard lock(state_->mutex);
    state_->value = value;
    std::erase_if(state_->listeners, [&](const EventState::Listener& each) {
      if (each.value <= value) due.push_back(each);
      return each.value <= value;
    });
  }
  state_->signalled.notify_all();
  for (const EventState::Listener& each : due) {
    ((MTLSharedEventNotificationBlock)each.block.get())(self, value);
  }
}
- (void)notifyListener:(MTLSharedEventListener*)listener
               atValue:(uint64_t)value
                 block:(MTLSharedEventNotificationBlock)block {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->value < value) {
      state_->listeners.push_back(
          {value, {(void*)Block_copy(block), [](void* copy) { Block_release(copy); }}});
      return;
    }
  }
  block(self, value);
}
- (void)waitUntilSimulatedValue:(uint64_t)value {
  std::unique_lock lock(state_->mutex);
  state_->signalled.wait(lock, [&] { return state_->value >= value; });
}
@end
