#pragma once

#include <string>
#include <string_view>

namespace mpsprobe {

/// A kernel's name without what such names put behind an operator's: "addmm" of "addmm_impl_cpu_".
/// A part of `name`, at least one character of it if it has any. Never throws; may be called from
/// any thread.
std::string_view without_kernel_endings(std::string_view name);

/// The operator that a function of LibTorch's kernels belongs to: "aten::nll_loss2d_backward" of
/// "at::native::nll_loss2d_backward_out_frame" and of
/// "at::native::structured_nll_loss2d_backward_out_cpu::impl", which compilers inline into one
/// another. `function` is as normalise_function writes it. Empty where it is no such function, or
/// its name tells no operator. Never throws but for lack of memory; may be called from any thread.
std::string operator_of_kernel(std::string_view function);

/// The operator that a function hands a call on to: "aten::mul" of "at::_ops::mul_Scalar::call" and
/// of "torch::autograd::VariableType::mul_". Such functions are exported and stand on every stack,
/// whatever compilers inlined. Empty where it is no such function; otherwise as above.
std::string operator_of_call(std::string_view function);

}  // namespace mpsprobe
