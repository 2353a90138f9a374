#include "scenarios/worker/work_alone.h"

#include <string>

#include "harness/wire/event.h"
#include "scenarios/threads/gates.h"

namespace mpsprobe {

void work_alone(Lane& lane, int iteration, std::string_view where, FlightRecorder& recorder,
                Channel& channel) {
  const auto number = static_cast<uint32_t>(iteration);
  lane.enter();
  {
    const LaunchScope scope(recorder, recorder_layout::kMainThread, number);
    lane.launch(iteration);
  }
  recorder.at(recorder_layout::kMainThread, number, Step::synchronising);
  lane.synchronise();
  lane.leave();
  const CheckResult checked = lane.check();
  if (checked.wrong_iteration < 0) return;
  channel.send(FailureEvent{"wrong_result", std::string(where) + checked.difference, "run", -1,
                            checked.wrong_iteration, lane.operation()});
}

}  // namespace mpsprobe
