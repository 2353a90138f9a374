#include "scenarios/operations/tolerance.h"

#include <algorithm>
#include <cmath>

namespace mpsprobe {
namespace {

// Distance from 1 to the next number of the type; 0 for integers.
double unit(c10::ScalarType dtype) {
  switch (dtype) {
    case c10::ScalarType::Double:
      return std::ldexp(1.0, -52);
    case c10::ScalarType::Float:
      return std::ldexp(1.0, -23);
    case c10::ScalarType::Half:
      return std::ldexp(1.0, -10);
    case c10::ScalarType::BFloat16:
      return std::ldexp(1.0, -7);
    default:
      return 0;
  }
}

}  // namespace

Tolerance tolerance(Rounding rounding, c10::ScalarType dtype, int64_t terms) {
  const double eps = unit(dtype);
  if (eps == 0) {
    return {};
  }
  switch (rounding) {
    case Rounding::exact:
      return {};
    case Rounding::elementary:
      return {4 * eps, 4 * eps};
    case Rounding::transcendental:
      return {std::max(1e-3, 4 * eps), std::max(std::ldexp(1.0, -12), 4 * eps)};
    case Rounding::accumulated: {
      // Sixteen-bit types have so few digits that 256 units would accept anything; hardware sums
      // their products in float32, so that what remains are a few roundings to the type.
      const double units = eps > 1e-4 ? 4 : 256;
      const double grown =
          units * eps * std::sqrt(static_cast<double>(std::max<int64_t>(terms, 1)));
      return {4 * eps + units * eps, grown};
    }
  }
  return {};
}

}  // namespace mpsprobe
