#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "scenarios/comparison/values.h"
#include "scenarios/operations/operation.h"

namespace mpsprobe {

/// What differs between a result and the reference: index, expected, got, tolerance and how many
/// elements are wrong; empty where nothing is. `got` and `expected` are on the CPU; the tolerance
/// is that of `got`'s type. NaN equals nothing, not even NaN; an infinity equals itself.
std::string difference(const at::Tensor& got, const at::Tensor& expected, Rounding rounding,
                       int64_t terms);

/// Distance from 1 to the next number of the type, see tolerance.h; 0 for integers and bool.
double unit_of(at::ScalarType dtype);

/// What speaks against these being samples of the standard normal distribution, see values.h; empty
/// where nothing does.
std::string difference_from_normal(const at::Tensor& got);

/// What differs in shape or type between two tensors; empty where nothing does.
std::string difference_of_layout(const at::Tensor& got, at::IntArrayRef sizes,
                                 at::ScalarType dtype);

}  // namespace mpsprobe
