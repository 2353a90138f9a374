#include "scenarios/comparison/numbers.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace mpsprobe {

// splitmix64 (Steele, Lea, Flood 2014): neighbouring seeds and streams get unrelated numbers.
Numbers::Numbers(uint64_t seed, uint64_t stream)
    : state_(seed * 0xd1342543de82ef95 + (stream + 1) * 0x9e3779b97f4a7c15) {}

double Numbers::next() {
  uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

// Box and Muller 1958. A product of a few such numbers must not leave float32's comfortable range,
// so the one in 10^9 beyond 6 is drawn in.
HostArray Numbers::normal(const Sizes& sizes) {
  HostArray array{sizes, std::vector<float>(static_cast<size_t>(element_count(sizes)))};
  for (float& number : array.numbers) {
    const double radius = std::sqrt(-2 * std::log(1 - next()));
    number =
        static_cast<float>(std::clamp(radius * std::cos(2 * std::numbers::pi * next()), -6.0, 6.0));
  }
  return array;
}

HostArray Numbers::uniform(const Sizes& sizes, double low, double high) {
  HostArray array{sizes, std::vector<float>(static_cast<size_t>(element_count(sizes)))};
  for (float& number : array.numbers) number = static_cast<float>(low + (high - low) * next());
  return array;
}

std::vector<double> positive_product(const HostArray& a, const HostArray& b) {
  const int64_t rows = a.sizes[0];
  const int64_t inner = a.sizes[1];
  const int64_t columns = b.sizes[1];
  std::vector<double> product(static_cast<size_t>(rows * columns));
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      double sum = 0;
      for (int64_t k = 0; k < inner; ++k) {
        sum += static_cast<double>(a.numbers[static_cast<size_t>(row * inner + k)]) *
               b.numbers[static_cast<size_t>(k * columns + column)];
      }
      product[static_cast<size_t>(row * columns + column)] = std::max(sum, 0.0);
    }
  }
  return product;
}

}  // namespace mpsprobe
