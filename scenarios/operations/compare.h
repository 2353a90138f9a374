#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "scenarios/operations/operation.h"

namespace mpsprobe {

/// What differs between a result and the reference: index, expected, got, tolerance and how many
/// elements are wrong; empty where nothing is. `got` and `expected` are on the CPU; the tolerance
/// is that of `got`'s type. NaN equals nothing, not even NaN; an infinity equals itself.
std::string difference(const at::Tensor& got, const at::Tensor& expected, Rounding rounding,
                       int64_t terms);

/// What speaks against these being samples of the standard normal distribution; empty where nothing
/// does. Every sample must be finite and within 8; mean and variance must lie within 6 standard
/// deviations of what they estimate (sd of the mean 1/sqrt(n); of the variance sqrt(2/(n-1)), asked
/// from 1024 samples on, where it is close enough to normal). A right generator is refused fewer
/// than once in 10^7 tensors.
std::string difference_from_normal(const at::Tensor& got);

/// What differs in shape or type between two tensors; empty where nothing does.
std::string difference_of_layout(const at::Tensor& got, at::IntArrayRef sizes,
                                 at::ScalarType dtype);

}  // namespace mpsprobe
