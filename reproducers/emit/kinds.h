#pragma once

#include <span>
#include <string_view>

#include "harness/wire/cell.h"
#include "reproducers/emit/emission.h"

// The kinds of program that have a file of their own; see `emit`.

namespace mpsprobe {

/// Whether a Metal kernel of one's own is what the cell is about: on the backend metal as there
/// (scenarios/metal/kernels.mm), elsewhere where no graph says its operation.
bool is_compute_cell(const Cell& cell);
/// Such a cell as a program on Metal alone.
Emission emit_compute(const EmissionRequest& request);

/// The cell of the backend mlx as a program on MLX, in C++ and in Python.
Emission emit_mlx(const EmissionRequest& request);
Emission emit_mlx_python(const EmissionRequest& request);
/// The operations that there is such a program of. Static storage.
std::span<const std::string_view> operations_of_mlx_programs();

/// Whether the cell's operation is somebody's own Python function or test.
bool is_own_code(const EmissionRequest& request);
/// Their file and a program that calls the function, or has pytest call the test, as the cell does.
/// The program takes the file where it is, since it may read what lies beside it, and the copy
/// where that is not there.
Emission emit_own_code(const EmissionRequest& request);

}  // namespace mpsprobe
