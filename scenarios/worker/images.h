#pragma once

#include "harness/wire/flight_recorder.h"

namespace mpsprobe {

/// Notes every executable image that the process has loaded in the flight recorder, so that the
/// runner can tell a raw address of a crash as image + offset after the process is gone. Call again
/// after loading more; not while another thread calls it.
void note_images(FlightRecorder& recorder);

}  // namespace mpsprobe
