#pragma once

#include <span>
#include <string_view>

#include "reproducers/emit/emission.h"

namespace mpsprobe {

/// The cell of the backend mlx as a program on MLX, in C++ and in Python; see `emit`.
Emission emit_mlx(const EmissionRequest& request);
Emission emit_mlx_python(const EmissionRequest& request);

/// The operations that there is a program of. Static storage.
std::span<const std::string_view> operations_of_mlx_programs();

}  // namespace mpsprobe
