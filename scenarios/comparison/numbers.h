#pragma once

#include <cstdint>
#include <vector>

#include "scenarios/comparison/values.h"

namespace mpsprobe {

/// Numbers of one array, the last dimension moving fastest.
struct HostArray {
  Sizes sizes;
  std::vector<float> numbers;
};

/// The same numbers for the same seed and stream, on every platform. One thread at a time.
class Numbers {
 public:
  /// `stream` separates the consumers of one seed.
  Numbers(uint64_t seed, uint64_t stream);

  /// Samples of the standard normal distribution, within 6.
  HostArray normal(const Sizes& sizes);
  HostArray uniform(const Sizes& sizes, double low, double high);

 private:
  double next();  ///< uniform in [0, 1)

  uint64_t state_;
};

/// relu(a x b) of two matrices, row by row.
std::vector<double> positive_product(const HostArray& a, const HostArray& b);

}  // namespace mpsprobe
