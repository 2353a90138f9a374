#pragma once

#include "harness/wire/cell.h"
#include "reproducers/emit/emission.h"

namespace mpsprobe {

/// Whether a Metal kernel of one's own is what the cell is about: on the backend metal as there
/// (scenarios/metal/kernels.mm), elsewhere where no graph says its operation.
bool is_compute_cell(const Cell& cell);

/// Such a cell as a program on Metal alone; see `emit`.
Emission emit_compute(const EmissionRequest& request);

}  // namespace mpsprobe
