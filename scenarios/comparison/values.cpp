#include "scenarios/comparison/values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <type_traits>

namespace mpsprobe {
namespace {

// [row, column, ...] of a flat index.
std::string index_text(size_t flat, std::span<const int64_t> sizes) {
  Sizes index(sizes.size());
  auto left = static_cast<int64_t>(flat);
  for (size_t i = sizes.size(); i-- > 0;) {
    index[i] = left % sizes[i];
    left /= sizes[i];
  }
  return in_brackets(index);
}

template <typename T>
bool right(T got, T expected, const Tolerance& tolerance) {
  if (got == expected) {
    return true;
  }
  if constexpr (std::is_floating_point_v<T>) {
    // Infinities that differ give an infinite distance, NaN an unordered comparison: both wrong.
    return std::isfinite(expected) &&
           std::abs(got - expected) <= tolerance.atol + tolerance.rtol * std::abs(expected);
  }
  return false;
}

template <typename T>
std::string difference(std::span<const T> got, std::span<const T> expected,
                       std::span<const int64_t> sizes, const Tolerance& tolerance) {
  size_t wrong = 0;
  size_t first = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    if (!right(got[i], expected[i], tolerance)) {
      first = wrong++ == 0 ? i : first;
    }
  }
  if (wrong == 0) {
    return {};
  }
  return fmt::format(
      "at index {} expected {:.9g}, got {:.9g} (tolerance: {:.3g} + {:.3g} of the expected); {} of "
      "{} elements are wrong",
      index_text(first, sizes), static_cast<double>(expected[first]),
      static_cast<double>(got[first]), tolerance.atol, tolerance.rtol, wrong, got.size());
}

}  // namespace

int64_t element_count(const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

std::string in_brackets(std::span<const int64_t> sizes) {
  return fmt::format("[{}]", fmt::join(sizes.begin(), sizes.end(), ","));
}

std::string difference_of_values(std::span<const double> got, std::span<const double> expected,
                                 std::span<const int64_t> sizes, const Tolerance& tolerance) {
  return difference(got, expected, sizes, tolerance);
}

std::string difference_of_values(std::span<const int64_t> got, std::span<const int64_t> expected,
                                 std::span<const int64_t> sizes) {
  return difference(got, expected, sizes, {});
}

std::string difference_from_normal(std::span<const double> samples,
                                   std::span<const int64_t> sizes) {
  if (samples.empty()) {
    return {};
  }
  const double n = static_cast<double>(samples.size());
  double sum = 0;
  double squares = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (!(std::abs(samples[i]) <= 8)) {
      return fmt::format("at index {} expected a standard normal sample, got {:.9g} (tolerance: 8)",
                         index_text(i, sizes), samples[i]);
    }
    sum += samples[i];
    squares += samples[i] * samples[i];
  }
  const double mean = sum / n;
  if (const double bound = 6 / std::sqrt(n); std::abs(mean) > bound) {
    return fmt::format("mean of {} samples: expected 0, got {:.6g} (tolerance: {:.3g}, 6 sd)",
                       samples.size(), mean, bound);
  }
  if (samples.size() >= 1024) {
    const double variance = (squares - n * mean * mean) / (n - 1);
    const double bound = 6 * std::sqrt(2 / (n - 1));
    if (std::abs(variance - 1) > bound) {
      return fmt::format("variance of {} samples: expected 1, got {:.6g} (tolerance: {:.3g}, 6 sd)",
                         samples.size(), variance, bound);
    }
  }
  return {};
}

}  // namespace mpsprobe
