#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "scenarios/comparison/tolerance.h"
#include "scenarios/comparison/values.h"

namespace mpsprobe::metal {

/// One piece of work for the device: one kernel, one graph or one command of an encoder.
enum class StepKind : uint8_t {
  zeros,     ///< fill
  normal,    ///< standard normal samples
  product,   ///< a x b
  linear,    ///< x x transpose(w) + b, b as large as the result
  addition,  ///< a + b, of the same sizes
  relu,
  axpy,  ///< kAxpyFactor * x + y
  sine,
  strided_copy,  ///< every kCopyStride-th element
  softmax,       ///< over the last dimension
};

/// A power of two, so that the product is exact and the sum alone is rounded.
inline constexpr float kAxpyFactor = 2;
inline constexpr uint32_t kCopyStride = 3;

/// `values` are numbered: the inputs of a lane, then its parameters, then each step's result.
struct Step {
  StepKind kind = StepKind::zeros;
  std::vector<size_t> sources;
};

/// What one launch of an operation does, for sizes that are chosen. Value i + inputs + parameters
/// is the result of step i.
struct Recipe {
  std::vector<Sizes> values;
  size_t inputs = 0;
  size_t parameters = 0;
  std::vector<Step> steps;

  size_t result_of(size_t step) const { return inputs + parameters + step; }
};

/// One entry of the backend's operation table: the same name, shape and meaning as that of the
/// operation on LibTorch. By what calls, and whether LibTorch makes them: docs/macos.md. Static
/// storage.
struct MetalOperation {
  std::string_view name;
  std::string_view summary;
  std::string_view source;
  std::string_view shape;
  std::string_view dimensions = "any";
  Rounding rounding = Rounding::exact;
  /// LibTorch chooses between a kernel and a graph for it.
  bool chooses_path = false;
  bool has_parameters = false;
  Recipe (*recipe)(const Sizes& sizes) = nullptr;
};

std::span<const MetalOperation> metal_operations();

/// Its entry in a worker's description.
nlohmann::json describe_operation(const MetalOperation& operation);

/// The operation called `name`, or nullptr.
const MetalOperation* find_metal_operation(std::string_view name);

}  // namespace mpsprobe::metal
