#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "harness/wire/cell.h"
#include "scenarios/comparison/tolerance.h"
#include "scenarios/comparison/values.h"
#include "scenarios/operations/random.h"

namespace mpsprobe {

using Tensors = std::vector<at::Tensor>;

/// Everything that one launch of an operation gets. The same operation is run with tensors of the
/// device and, for the reference, with tensors of the CPU in a wider type: a `run` takes its device
/// and type from here and from nowhere else.
struct Call {
  const Sizes& sizes;
  const Tensors& inputs;      ///< the lane's own
  const Tensors& parameters;  ///< weights: the lane's own or shared by all lanes
  at::TensorOptions options;  ///< device and type for an operation that creates tensors
  int variant = 0;            ///< which of a mix, by thread
};

/// Types that the operations share: floating point, and floating point with integers.
std::span<const at::ScalarType> floating_types();
std::span<const at::ScalarType> numeric_types();

/// How results are judged.
enum class Verify : uint8_t {
  compare,  ///< with the same operation on the CPU, within the tolerance
  layout,   ///< shape and type only: the contents are not defined
  normal,   ///< samples of the standard normal distribution: shape, finite, mean and variance
  raw,      ///< two samples as above, and relu of their product, recomputed from these samples
};

/// One entry of the operation table: all there is to know about an operation. A plain value with
/// static storage; adding an operation is adding one of these to a group (see `operations()`).
struct Operation {
  std::string_view name;
  std::string_view summary;             ///< one line, for `list`
  std::string_view source;              ///< the report or the public issue that asks for it
  std::string_view shape;               ///< default sizes, "8x64x64"
  std::string_view dimensions = "any";  ///< what the sizes mean, "batch x in x out"
  /// The first is the default; empty: types of its own.
  std::span<const at::ScalarType> dtypes = floating_types();
  Rounding rounding = Rounding::exact;
  Verify verify = Verify::compare;
  /// It ends in aten::linear, so that the layout of its weights selects the path (nograph, graph).
  bool ends_in_linear = false;
  /// A launch neither waits for the device nor leaves it without work, so that it can be captured
  /// into a CUDA graph.
  bool capturable = true;
  /// It has several parts and calls end_of_stage() between them.
  bool has_stages = false;
  /// The one backend that it is for; none: it runs on all.
  std::optional<Backend> only_on = std::nullopt;
  /// The parameters require a gradient, as a Python module's do: a forward records for backward.
  bool records_gradient = false;
  /// The ATen calls that carry the work, the most telling first: asked for the observed path.
  std::vector<std::string_view> observed_as;
  /// Operations of the table that are part of this one: what a failure of it can be reduced to.
  std::vector<std::string_view> made_of = {};
  /// What is wrong with these sizes, or an empty text. The number of sizes and their range have
  /// been checked before. nullptr: nothing more can be wrong.
  std::string_view (*refuse)(const Sizes&) = nullptr;
  /// Number of terms that a result element is a sum of. nullptr: one.
  int64_t (*terms)(const Sizes&) = nullptr;
  /// Inputs of one lane, and parameters, made on the CPU in float32 (or int64 for an integer type)
  /// before they are rounded to the cell's type. nullptr: none.
  Tensors (*inputs)(Random&, const Sizes&) = nullptr;
  Tensors (*parameters)(Random&, const Sizes&) = nullptr;
  /// What lane k of a mix executes, for the flight recorder. nullptr: the operation's own name.
  std::string_view (*variant_name)(int variant) = nullptr;
  Tensors (*run)(const Call&) = nullptr;

  bool has_parameters() const { return parameters != nullptr; }
};

/// The groups of the table, a file each. Static storage.
std::span<const Operation> creation_operations();
std::span<const Operation> elementwise_operations();
std::span<const Operation> product_operations();
std::span<const Operation> attention_operations();
std::span<const Operation> mix_operations();
std::span<const Operation> model_operations();
std::span<const Operation> stacked_model_operations();
std::span<const Operation> selftest_operations();

/// The whole table in the order in which it is listed. Static storage.
std::span<const Operation* const> operations();

/// The operation called `name`, or nullptr.
const Operation* find_operation(std::string_view name);

/// Inputs of an operation: one tensor of normal numbers, of the sizes with these indices.
template <size_t... Index>
Tensors normal_of(Random& random, const Sizes& sizes) {
  return {random.normal({sizes[Index]...})};
}

}  // namespace mpsprobe
