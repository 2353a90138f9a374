#include "scenarios/operations/compare.h"

#include <fmt/format.h>

#include <cmath>
#include <span>

#include "scenarios/operations/sizes.h"

namespace mpsprobe {
namespace {

// The elements of a contiguous tensor of type T. By way of the untyped pointer: the typed accessor
// is a template instance of the library, whose mangled name depends on the compiler that built it.
template <typename T>
std::span<const T> values(const at::Tensor& contiguous) {
  return {static_cast<const T*>(contiguous.const_data_ptr()),
          static_cast<size_t>(contiguous.numel())};
}

}  // namespace

// Distance from 1 to the next number of the type; 0 for integers.
double unit_of(at::ScalarType dtype) {
  switch (dtype) {
    case at::kDouble:
      return std::ldexp(1.0, -52);
    case at::kFloat:
      return kFloat32Unit;
    case at::kHalf:
      return std::ldexp(1.0, -10);
    case at::kBFloat16:
      return std::ldexp(1.0, -7);
    default:
      return 0;
  }
}

std::string difference(const at::Tensor& got, const at::Tensor& expected, Rounding rounding,
                       int64_t terms) {
  if (got.sizes() != expected.sizes()) {
    return fmt::format("expected shape {}, got {}", in_brackets(expected.sizes()),
                       in_brackets(got.sizes()));
  }
  if (!got.is_floating_point() && !expected.is_floating_point()) {
    const at::Tensor a = got.to(at::kLong).contiguous();
    const at::Tensor b = expected.to(at::kLong).contiguous();
    return difference_of_values(values<int64_t>(a), values<int64_t>(b), got.sizes());
  }
  const at::Tensor a = got.to(at::kDouble).contiguous();
  const at::Tensor b = expected.to(at::kDouble).contiguous();
  return difference_of_values(values<double>(a), values<double>(b), got.sizes(),
                              tolerance(rounding, unit_of(got.scalar_type()), terms));
}

std::string difference_from_normal(const at::Tensor& got) {
  const at::Tensor wide = got.to(at::kDouble).contiguous();
  return difference_from_normal(values<double>(wide), got.sizes());
}

std::string difference_of_layout(const at::Tensor& got, at::IntArrayRef sizes,
                                 at::ScalarType dtype) {
  if (got.sizes() != sizes) {
    return fmt::format("expected shape {}, got {}", in_brackets(sizes), in_brackets(got.sizes()));
  }
  if (got.scalar_type() != dtype) {
    return fmt::format("expected type {}, got {}", name_of(dtype), name_of(got.scalar_type()));
  }
  return {};
}

}  // namespace mpsprobe
