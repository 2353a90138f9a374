// Spoilt: a function that is declared, as by a header of another release, and that LibTorch does
// not export.
#include <ATen/ops/linear.h>
#include <ATen/ops/zeros.h>

#ifdef MPSPROBE_SPOILT_SYMBOL
namespace at {
Tensor linear_of_another_release(const Tensor& input, const Tensor& weight);
}
#endif

int main() {
  const at::Tensor square = at::zeros({2, 2});
#ifdef MPSPROBE_SPOILT_SYMBOL
  return at::linear_of_another_release(square, square).numel() != 4;
#else
  return at::linear(square, square).numel() != 4;
#endif
}
