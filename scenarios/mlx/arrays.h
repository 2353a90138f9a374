#pragma once

#include <mlx/array.h>

#include "scenarios/mlx/mlx_operation.h"

namespace mpsprobe {

/// Sizes as MLX has them. They must fit into its 32 bits, which read_shape sees to.
inline ::mlx::core::Shape shape_of(const Sizes& sizes) {
  ::mlx::core::Shape shape;
  for (const int64_t size : sizes) shape.push_back(static_cast<int>(size));
  return shape;
}

/// New arrays of these numbers, which hold them already: no stream takes part.
inline Arrays to_arrays(const std::vector<HostArray>& numbers) {
  Arrays arrays;
  for (const HostArray& each : numbers) {
    arrays.emplace_back(each.numbers.begin(), shape_of(each.sizes));
  }
  return arrays;
}

}  // namespace mpsprobe
