#pragma once

#include <cmath>
#include <initializer_list>
#include <vector>

#include "scenarios/comparison/values.h"

namespace mpsprobe {

// Parameters of layers, from Numbers or from LibTorch's Random, in the range that nn.Linear,
// nn.Conv and those of mlx.nn start with: 1/sqrt(terms of one output), so that results stay near
// one whatever the sizes.

/// Appends weight and bias of a layer. `weight`: outputs first.
template <typename Made, typename Source>
void append_layer(std::vector<Made>& parameters, Source& source, const Sizes& weight) {
  const int64_t terms = element_count(weight) / weight[0];
  const double bound = 1 / std::sqrt(static_cast<double>(terms));
  parameters.push_back(source.uniform(weight, -bound, bound));
  parameters.push_back(source.uniform({weight[0]}, -bound, bound));
}

/// Those of several layers, one after the other.
template <typename Source>
auto layers(Source& source, std::initializer_list<Sizes> weights) {
  std::vector<decltype(source.uniform(Sizes(), 0, 0))> parameters;
  for (const Sizes& weight : weights) append_layer(parameters, source, weight);
  return parameters;
}

}  // namespace mpsprobe
