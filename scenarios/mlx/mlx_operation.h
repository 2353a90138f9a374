#pragma once

#include <mlx/array.h>
#include <mlx/stream.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "scenarios/comparison/numbers.h"
#include "scenarios/comparison/tolerance.h"
#include "scenarios/comparison/values.h"

namespace mpsprobe {

using Arrays = std::vector<::mlx::core::array>;

/// Everything that one launch of an operation gets. Every call takes its stream from here.
struct MlxCall {
  const Sizes& sizes;
  const Arrays& inputs;
  const Arrays& parameters;
  ::mlx::core::Stream stream;
  int variant = 0;  ///< which of a mix, by thread
};

/// How a launch makes MLX compute what `run` describes: arrays are lazy until then.
enum class Evaluation : uint8_t {
  waits,     ///< mlx::core::eval: returns when it is done
  async,     ///< mlx::core::async_eval: returns before; synchronise waits
  shared,    ///< arrays made once for all threads, each of which evaluates the same ones
  compiled,  ///< as `waits`, of a function that was compiled once and that all threads call
  released,  ///< as `waits`, of a function compiled for it, after another one was released
             ///< elsewhere
};

/// How results are judged.
enum class MlxVerify : uint8_t {
  compare,  ///< with the same operation on the CPU in one thread, within the tolerance
  normal,   ///< samples of the standard normal distribution
  unlike,   ///< as `normal`, and what another thread drew first must differ
  raw,      ///< two samples as above, and relu of their product, recomputed from these samples
};

/// One entry of the backend's operation table. Those that LibTorch's workers have as well have the
/// same name, shape and meaning there. Static storage.
struct MlxOperation {
  std::string_view name;
  std::string_view summary;             ///< one line, for `list`
  std::string_view source;              ///< the report or the public issue that asks for it
  std::string_view shape;               ///< default sizes, "8x64x64"
  std::string_view dimensions = "any";  ///< what the sizes mean; "any" where free
  Rounding rounding = Rounding::exact;
  MlxVerify verify = MlxVerify::compare;
  Evaluation evaluation = Evaluation::waits;
  /// Operations of the table that are part of this one: what a failure of it can be reduced to.
  std::vector<std::string_view> made_of = {};
  /// What is wrong with these sizes, or an empty text. nullptr: nothing more can be wrong.
  std::string_view (*refuse)(const Sizes&) = nullptr;
  /// Number of terms that a result element is a sum of. nullptr: one.
  int64_t (*terms)(const Sizes&) = nullptr;
  /// Inputs of one lane, and weights. nullptr: none.
  std::vector<HostArray> (*inputs)(Numbers&, const Sizes&) = nullptr;
  std::vector<HostArray> (*parameters)(Numbers&, const Sizes&) = nullptr;
  /// What lane k of a mix executes, for the flight recorder. nullptr: the operation's own name.
  std::string_view (*variant_name)(int variant) = nullptr;
  Arrays (*run)(const MlxCall&) = nullptr;

  bool has_parameters() const { return parameters != nullptr; }
};

/// Inputs of an operation: one array of normal numbers, of the sizes with these indices.
template <size_t... Index>
std::vector<HostArray> normal_of(Numbers& numbers, const Sizes& sizes) {
  return {numbers.normal({sizes[Index]...})};
}

/// The groups of the table, a file each. Static storage.
std::span<const MlxOperation> mlx_single_operations();
std::span<const MlxOperation> mlx_models();
std::span<const MlxOperation> mlx_lazy_operations();

/// The whole table in the order in which it is listed. Static storage.
std::span<const MlxOperation> mlx_operations();

}  // namespace mpsprobe
