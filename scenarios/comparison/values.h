#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "scenarios/comparison/tolerance.h"

/// What speaks against numbers, whatever computed them. Pure functions; any thread.
namespace mpsprobe {

/// Lengths of the dimensions of an array, the slowest moving one first.
using Sizes = std::vector<int64_t>;

/// How many elements an array of these sizes has; the product must not overflow.
int64_t element_count(const Sizes& sizes);

/// "[2,3]"
std::string in_brackets(std::span<const int64_t> sizes);

/// What differs between numbers and those that are expected: index, expected, got, tolerance and
/// how many elements are wrong; empty where nothing is. Both have the elements of an array of
/// `sizes`, in its order. NaN equals nothing, not even NaN; an infinity equals itself.
std::string difference_of_values(std::span<const double> got, std::span<const double> expected,
                                 std::span<const int64_t> sizes, const Tolerance& tolerance);
/// The same for integers, which have no tolerance.
std::string difference_of_values(std::span<const int64_t> got, std::span<const int64_t> expected,
                                 std::span<const int64_t> sizes);

/// What speaks against these being samples of the standard normal distribution; empty where nothing
/// does. Every sample must be finite and within 8; mean and variance must lie within 6 standard
/// deviations of what they estimate (sd of the mean 1/sqrt(n); of the variance sqrt(2/(n-1)), asked
/// from 1024 samples on, where it is close enough to normal). A right generator is refused fewer
/// than once in 10^7 arrays.
std::string difference_from_normal(std::span<const double> samples, std::span<const int64_t> sizes);

}  // namespace mpsprobe
