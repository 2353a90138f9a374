#pragma once

#include <cstdint>
#include <span>

#include "harness/wire/flight_recorder.h"

namespace mpsprobe {

/// Notes every executable image that the process has loaded and that is not noted yet in the flight
/// recorder, so that the runner can tell a raw address as image + offset after the process is gone.
/// macOS: the first call has the loader tell of later ones by itself. From any thread, not from a
/// signal handler.
void note_images(FlightRecorder& recorder);

/// What note_images_of() needs beforehand in a process that has no recorder until it crashes.
/// macOS: has the loader tell of its images, once; elsewhere it does nothing. Not from a signal
/// handler.
void remember_images();

/// Notes the images of these addresses that are not noted yet: a library that was loaded since, or
/// all of them in a recorder that is new. On Linux with glibc 2.35 or later, where the loader can
/// be asked without a lock; on macOS those that it told of (remember_images(), note_images());
/// elsewhere it does nothing. Async-signal-safe; gives up where another thread is noting.
void note_images_of(recorder_layout::Block& block, std::span<const uint64_t> addresses);

}  // namespace mpsprobe
