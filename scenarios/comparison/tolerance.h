#pragma once

#include <cstdint>

namespace mpsprobe {

/// What an operation does to its numbers, and so how far a correct result may lie from the CPU's.
/// A race leaves stale, foreign or half-written numbers, which are far off: the tolerances are wide
/// enough that no correct GPU is accused, and need not be tighter.
enum class Rounding : uint8_t {
  /// Copies, compares or selects numbers: bit for bit.
  exact,
  /// A few roundings to the result's type (add, mul, arange): 4 units in the last place.
  elementary,
  /// exp, sin, erf ...: GPU compilers may use the fast forms. The Metal Shading Language
  /// specification (section "Numerical compliance") allows fast sin and cos an absolute error of
  /// 2^-13 and fast exp, log, tan several units more: atol 2^-12, rtol 1e-3 in float32.
  transcendental,
  /// Sums of n products: the rounding error grows like sqrt(n) for random signs (Higham, "Accuracy
  /// and Stability of Numerical Algorithms", section 4.2, has the worst case, n). Per sqrt(n): 256
  /// units of float32, 4 of a sixteen-bit type, since hardware sums its products in float32.
  accumulated,
};

/// A result `got` is right when |got - expected| <= atol + rtol * |expected|.
struct Tolerance {
  double rtol = 0;
  double atol = 0;
};

/// Distance from 1 to the next number of float32.
inline constexpr double kFloat32Unit = 0x1p-23;

/// The tolerance for results of a type whose numbers next to 1 are `unit` apart (0: integers, which
/// are always exact) and whose elements are sums of `terms` terms of magnitude around one.
Tolerance tolerance(Rounding rounding, double unit, int64_t terms);

}  // namespace mpsprobe
