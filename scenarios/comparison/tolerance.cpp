#include "scenarios/comparison/tolerance.h"

#include <algorithm>
#include <cmath>

namespace mpsprobe {
Tolerance tolerance(Rounding rounding, double unit, int64_t terms) {
  if (unit == 0) {
    return {};
  }
  switch (rounding) {
    case Rounding::exact:
      return {};
    case Rounding::elementary:
      return {4 * unit, 4 * unit};
    case Rounding::transcendental:
      return {std::max(1e-3, 4 * unit), std::max(std::ldexp(1.0, -12), 4 * unit)};
    case Rounding::accumulated: {
      // Sixteen-bit types have so few digits that 256 units would accept anything; hardware sums
      // their products in float32, so that what remains are a few roundings to the type.
      const double units = unit > 1e-4 ? 4 : 256;
      const double grown =
          units * unit * std::sqrt(static_cast<double>(std::max<int64_t>(terms, 1)));
      return {4 * unit + units * unit, grown};
    }
  }
  return {};
}

}  // namespace mpsprobe
