#include "scenarios/operations/random.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/empty.h>

namespace mpsprobe {
namespace {

// One step of splitmix64 (Steele, Lea, Flood 2014): neighbouring seeds and streams get unrelated
// generators.
uint64_t mix(uint64_t seed, uint64_t stream) {
  uint64_t z = seed + (stream + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

Random::Random(uint64_t seed, uint64_t stream)
    : generator_(at::detail::createCPUGenerator(mix(seed, stream))) {}

at::Tensor Random::normal(at::IntArrayRef sizes) {
  return at::empty(sizes, at::kFloat).normal_(0, 1, generator_);
}

at::Tensor Random::uniform(at::IntArrayRef sizes, double low, double high) {
  return at::empty(sizes, at::kFloat).uniform_(low, high, generator_);
}

}  // namespace mpsprobe
