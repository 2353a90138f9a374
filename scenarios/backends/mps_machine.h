#pragma once

#include <nlohmann/json_fwd.hpp>

#include "harness/wire/cell.h"

// What LibTorch's device mps lies on: a Mac, or the stand-in on the simulated Metal device. The
// backend above is the same.

namespace mpsprobe {

/// Not on a Mac.
bool mps_is_simulated();

/// Makes the machine what the cell asks for, before anything touches it. Throws UnsupportedError
/// for a profile on a Mac, and SetupError where the stand-in cannot have it. Main thread.
void prepare_mps(const Cell& cell);

/// What it is, for provenance: JSON object with "simulated" and "device". Does not touch a real
/// device.
nlohmann::json describe_mps();

}  // namespace mpsprobe
