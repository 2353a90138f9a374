#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "harness/wire/cell.h"

/// What is the same for every cell of the backend: which device there is, and whose it is. The only
/// part that differs between Apple's frameworks and the simulated device that stands in for them
/// where there is no Mac.
namespace mpsprobe::metal {

/// Whether Metal has a device here. Touches it. `device` is its name; `reason` is why there is
/// none.
struct DeviceReport {
  bool available = false;
  std::string device;
  std::string reason;
};
DeviceReport report_device();

/// True in a build for the simulated device.
bool is_simulated();

/// Before the first contact with a device: chooses the simulated device's defects. Throws
/// SetupError where the profile is not there or broken, and UnsupportedError where the cell asks
/// Apple's device for one.
void prepare_device(const Cell& cell);

/// What the device is, for provenance: "backend", "simulated", "device" and, on a Mac, the system's
/// version and those of the frameworks. After prepare_device; does not touch a Metal device.
nlohmann::json describe_device();

}  // namespace mpsprobe::metal
