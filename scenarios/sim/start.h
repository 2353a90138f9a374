#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "scenarios/sim/profile.h"

/// What starting the simulated device has in common, below LibTorch and behind Apple's classes.
namespace mpsprobe::sim {

/// Says on stderr, in one line, that the device is simulated, with the profile's name and hash.
void say_simulated(const Profile& profile);

/// What runs, as JSON: {"device", "profile", "profile_hash", "simulated"}.
std::string description_of(const Profile& profile);

/// Runs `start` for a function of a C interface: 0, or 1 and why it threw in `error`, cut to
/// `error_bytes` with its null byte; `error` may be null where `error_bytes` is 0.
int start_for_c(const std::function<void()>& start, char* error, size_t error_bytes);

/// For DefectEngine: a uniform number in [0, 1), another in each process.
double draw();

}  // namespace mpsprobe::sim
