#pragma once

#include "scenarios/operations/operation.h"

namespace mpsprobe {

/// Appends weight and bias of a layer in the range that nn.Linear and nn.Conv start with: 1/sqrt(
/// terms of one output), so that results stay near one whatever the sizes. `weight`: outputs first.
void append_layer(Tensors& parameters, Random& random, const Sizes& weight);

}  // namespace mpsprobe
