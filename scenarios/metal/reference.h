#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "scenarios/metal/recipe.h"

namespace mpsprobe::metal {

/// Numbers of one value, in the order of its elements.
using Numbers = std::vector<float>;

/// Inputs (or parameters) of a recipe, as LibTorch's operation gets them: standard normal, and for
/// linear's weight and bias uniform within 1/sqrt(in), so that results stay near one. The same for
/// the same seed and stream; `stream` separates the consumers of one seed.
std::vector<Numbers> make_inputs(const Recipe& recipe, uint64_t seed, uint64_t stream);
std::vector<Numbers> make_parameters(const Recipe& recipe, uint64_t seed, uint64_t stream);

/// What is wrong with the results of one launch, one for each step, given what it was made from
/// (inputs, then parameters): step, index, expected, got, tolerance; empty where nothing is. The
/// expected numbers are computed on the CPU in double, from the device's own samples where the
/// recipe draws some. Pure; any thread.
std::string difference_in(const Recipe& recipe, Rounding rounding, std::span<const Numbers> given,
                          std::span<const std::span<const float>> results);

}  // namespace mpsprobe::metal
