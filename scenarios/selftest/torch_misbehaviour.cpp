#include "scenarios/selftest/torch_misbehaviour.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/relu.h>

#include <array>
#include <cstdint>

namespace mpsprobe {
namespace {

// A tensor at an address where nothing is: LibTorch reads it in at::_ops::relu::call.
void crash_in_libtorch() {
  volatile uintptr_t address = 0x5c8;
  const uintptr_t nowhere = address;
  at::relu(*reinterpret_cast<const at::Tensor*>(nowhere));  // NOLINT(performance-no-int-to-ptr)
}

constexpr std::array kMisbehaviours{
    Misbehaviour{"crash_in_libtorch", "LibTorch reads a tensor at an address where nothing is",
                 Stage::launch, crash_in_libtorch},
};

}  // namespace

std::span<const Misbehaviour> torch_misbehaviours() {
  return kMisbehaviours;
}

}  // namespace mpsprobe
