// scenarios/objective_c/metal_probe.h on the simulated device.
#include "scenarios/objective_c/metal_probe.h"

#include "scenarios/stand_in/stand_in.h"

namespace mpsprobe {

// Each probe makes a queue of its own, which takes nothing that a hung thread can hold.
void* make_probe_queue(void* device) {
  return device;
}

Probe probe_metal(void*, const std::function<void()>& submitted) {
  submitted();  // the simulated queue takes it without waiting for anybody
  return mpsprobe_stand_in_probe() == 0 ? Probe::completed : Probe::failed;
}

}  // namespace mpsprobe
