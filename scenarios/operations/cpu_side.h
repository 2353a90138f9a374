#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/record_function.h>

namespace mpsprobe {

/// While it lives, this thread's tensor operations are the harness's own and no part of what is
/// tested: no gradient is recorded, and observers do not see them. The latter matters with the
/// simulated device, which takes every observed CPU operation for work of its own.
class CpuSide {
  at::NoGradGuard no_gradient_;
  at::DisableRecordFunctionGuard unobserved_;
};

/// `tensor` (float32) rounded to `dtype`. For an integer type it is scaled by 8 first, so that
/// samples of a normal distribution become different small integers.
inline at::Tensor to_type(const at::Tensor& tensor, at::ScalarType dtype) {
  return at::isIntegralType(dtype, /*includeBool=*/true) ? tensor.mul(8).round().to(dtype)
                                                         : tensor.to(dtype);
}

/// The type that the reference of `dtype` is computed in: float64 for every floating type.
inline at::ScalarType reference_type(at::ScalarType dtype) {
  return at::isFloatingType(dtype) ? at::kDouble : dtype;
}

}  // namespace mpsprobe
