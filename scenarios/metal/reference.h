#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "scenarios/metal/recipe.h"

namespace mpsprobe::metal {

/// Numbers of one value, in the order of its elements.
using Numbers = std::vector<float>;

/// A standard normal number (Box and Muller, 1958): libstdc++'s distributions take a logarithm in
/// long double for each. A generator belongs to one thread.
float normal(std::mt19937_64& generator);

/// Inputs (or parameters) of a recipe, as LibTorch's operation gets them: standard normal, and for
/// linear's weight and bias uniform within 1/sqrt(in), so that results stay near one. The same for
/// the same seed and stream; `stream` separates the consumers of one seed.
std::vector<Numbers> make_inputs(const Recipe& recipe, uint64_t seed, uint64_t stream);
std::vector<Numbers> make_parameters(const Recipe& recipe, uint64_t seed, uint64_t stream);

/// The result of a step from the values before it, where nothing is drawn: zeros for samples.
Numbers computed(const Recipe& recipe, size_t step, std::span<const Numbers> values);

/// What the launches of a lane should give, computed on the CPU in double: once for all of them,
/// but for what follows from samples that each launch draws. Const functions: any thread.
class Reference {
 public:
  /// `given`: inputs, then parameters. `recipe` outlives this.
  Reference(const Recipe& recipe, Rounding rounding, std::span<const Numbers> given);

  /// What is wrong with the results of one launch, one for each step: step, index, expected, got,
  /// tolerance; empty where nothing is.
  std::string difference_in(std::span<const std::span<const float>> results) const;

 private:
  using Wide = std::vector<double>;

  const Recipe& recipe_;
  Tolerance tolerance_;
  std::vector<Wide> values_;  // of the recipe; empty for results that follow from samples
};

}  // namespace mpsprobe::metal
