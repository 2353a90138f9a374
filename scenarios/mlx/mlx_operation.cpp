#include "scenarios/mlx/mlx_operation.h"

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

std::span<const MlxOperation* const> mlx_operations() {
  static const std::vector<const MlxOperation*> kAll = [] {
    std::vector<const MlxOperation*> all;
    for (const auto group : {mlx_single_operations(), mlx_models(), mlx_lazy_operations()}) {
      for (const MlxOperation& operation : group) all.push_back(&operation);
    }
    return all;
  }();
  return kAll;
}

const MlxOperation* find_mlx_operation(std::string_view name) {
  const auto all = mlx_operations();
  const auto at = std::find_if(all.begin(), all.end(), [name](const MlxOperation* operation) {
    return operation->name == name;
  });
  return at == all.end() ? nullptr : *at;
}

}  // namespace mpsprobe
