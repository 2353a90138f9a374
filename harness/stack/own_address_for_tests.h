#pragma once

#include "harness/wire/flight_recorder.h"

namespace mpsprobe {

/// An address in code of this very process, as its worker would note it: for tests and benchmarks.
/// Empty where the address is in no image.
FrameAddress own_address(const void* code);

/// As above, of a function of a library that is loaded: "pthread_mutex_lock".
FrameAddress own_address(const char* function);

}  // namespace mpsprobe
