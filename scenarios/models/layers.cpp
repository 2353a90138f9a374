#include "scenarios/models/layers.h"

#include <cmath>

namespace mpsprobe {

void append_layer(Tensors& parameters, Random& random, const Sizes& weight) {
  int64_t terms = 1;
  for (size_t i = 1; i < weight.size(); ++i) {
    terms *= weight[i];
  }
  const double bound = 1 / std::sqrt(static_cast<double>(terms));
  parameters.push_back(random.uniform(weight, -bound, bound));
  parameters.push_back(random.uniform({weight[0]}, -bound, bound));
}

}  // namespace mpsprobe
