#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>

namespace mpsprobe {

/// Seeded source of input tensors: the same seed gives the same numbers on the same machine. Always
/// on the CPU, so that inputs do not depend on what is being tested. Used by one thread at a time.
class Random {
 public:
  /// `stream` separates the consumers of one seed (a thread's inputs, its weights, shared weights).
  Random(uint64_t seed, uint64_t stream);

  /// Standard normal, float32.
  at::Tensor normal(at::IntArrayRef sizes);
  /// Uniform in [low, high), float32.
  at::Tensor uniform(at::IntArrayRef sizes, double low, double high);

 private:
  at::Generator generator_;
};

}  // namespace mpsprobe
