#pragma once

#include <span>

#include "scenarios/selftest/misbehaviour.h"

namespace mpsprobe {

/// Misbehaviours that happen inside LibTorch: what a stack must show of a library that carries the
/// symbols of its exported functions alone.
std::span<const Misbehaviour> torch_misbehaviours();

}  // namespace mpsprobe
