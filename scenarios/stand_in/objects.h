#pragma once

#include "scenarios/sim/recorder.h"

/// For libmpsprobe_stand_in_objects, which is loaded besides the stand-in: streams that are used
/// for the first time from now on record with what `make` gives. Any thread.
extern "C" void mpsprobe_stand_in_record_with(mpsprobe::sim::MakeRecorder make);
