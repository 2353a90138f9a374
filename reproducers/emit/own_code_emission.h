#pragma once

#include "reproducers/emit/emission.h"

namespace mpsprobe {

/// Whether the cell's operation is somebody's own Python function or test.
bool is_own_code(const EmissionRequest& request);

/// Their file and a program that calls the function, or has pytest call the test, as the cell does;
/// see `emit`. The program takes the file where it is, since it may read what lies beside it, and
/// the copy where that is not there.
Emission emit_own_code(const EmissionRequest& request);

}  // namespace mpsprobe
