#pragma once

#include "reproducers/emit/emission.h"

namespace mpsprobe {

/// Whether the cell's operation is somebody's own Python function: the request's environment names
/// its code.
bool is_own_code(const EmissionRequest& request);

/// Their module and a program that calls the function as the cell does; see `emit`. A test of
/// pytest's has no program: its fixtures are pytest's.
Emission emit_own_code(const EmissionRequest& request);

}  // namespace mpsprobe
