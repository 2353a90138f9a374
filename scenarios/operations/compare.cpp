#include "scenarios/operations/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>
#include <span>

#include "scenarios/operations/sizes.h"

namespace mpsprobe {
namespace {

std::string text(at::IntArrayRef sizes) {
  return fmt::format("[{}]", fmt::join(sizes.begin(), sizes.end(), ","));
}

// [row, column, ...] of a flat index.
std::string index_text(int64_t flat, at::IntArrayRef sizes) {
  Sizes index(sizes.size());
  for (size_t i = sizes.size(); i-- > 0;) {
    index[i] = flat % sizes[i];
    flat /= sizes[i];
  }
  return text(index);
}

// The elements of a contiguous tensor of type T. By way of the untyped pointer: the typed accessor
// is a template instance of the library, whose mangled name depends on the compiler that built it.
template <typename T>
std::span<const T> values(const at::Tensor& contiguous) {
  return {static_cast<const T*>(contiguous.const_data_ptr()),
          static_cast<size_t>(contiguous.numel())};
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
std::string difference_of_values(const at::Tensor& got, const at::Tensor& expected,
                                 const Tolerance& tolerance) {
  const auto wide = c10::CppTypeToScalarType<T>::value;
  const at::Tensor got_wide = got.to(wide).contiguous();
  const at::Tensor expected_wide = expected.to(wide).contiguous();
  const std::span<const T> a = values<T>(got_wide);
  const std::span<const T> b = values<T>(expected_wide);
  size_t wrong = 0;
  size_t first = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!right(a[i], b[i], tolerance)) {
      first = wrong++ == 0 ? i : first;
    }
  }
  if (wrong == 0) {
    return {};
  }
  return fmt::format(
      "at index {} expected {:.9g}, got {:.9g} (tolerance: {:.3g} + {:.3g} of the expected); {} of "
      "{} elements are wrong",
      index_text(static_cast<int64_t>(first), got.sizes()), static_cast<double>(b[first]),
      static_cast<double>(a[first]), tolerance.atol, tolerance.rtol, wrong, a.size());
}

}  // namespace

std::string difference(const at::Tensor& got, const at::Tensor& expected, Rounding rounding,
                       int64_t terms) {
  if (got.sizes() != expected.sizes()) {
    return fmt::format("expected shape {}, got {}", text(expected.sizes()), text(got.sizes()));
  }
  const bool integers = !got.is_floating_point() && !expected.is_floating_point();
  return integers ? difference_of_values<int64_t>(got, expected, {})
                  : difference_of_values<double>(got, expected,
                                                 tolerance(rounding, got.scalar_type(), terms));
}

std::string difference_from_normal(const at::Tensor& got) {
  const at::Tensor wide = got.to(at::kDouble).contiguous();
  const std::span<const double> samples = values<double>(wide);
  if (samples.empty()) {
    return {};
  }
  const double n = static_cast<double>(samples.size());
  double sum = 0;
  double squares = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (!(std::abs(samples[i]) <= 8)) {
      return fmt::format("at index {} expected a standard normal sample, got {:.9g} (tolerance: 8)",
                         index_text(static_cast<int64_t>(i), got.sizes()), samples[i]);
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

std::string difference_of_layout(const at::Tensor& got, at::IntArrayRef sizes,
                                 at::ScalarType dtype) {
  if (got.sizes() != sizes) {
    return fmt::format("expected shape {}, got {}", text(sizes), text(got.sizes()));
  }
  if (got.scalar_type() != dtype) {
    return fmt::format("expected type {}, got {}", name_of(dtype), name_of(got.scalar_type()));
  }
  return {};
}

}  // namespace mpsprobe
