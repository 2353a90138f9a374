// Tensors of the device type MPS in the host's memory: what LibTorch needs of a backend to make,
// view, copy and read them, and the CPU's kernels for everything else.
#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/_local_scalar_dense.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/_scaled_dot_product_attention_math.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/view_native.h>
#include <torch/library.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include "scenarios/sim/defects.h"
#include "scenarios/sim/observer.h"
#include "scenarios/stand_in/device.h"

namespace mpsprobe::stand_in {
namespace {

const c10::Device kDevice{c10::kMPS, 0};
// As LibTorch's own CPU allocator: its kernels may use aligned loads.
constexpr size_t kAlignment = 64;

void give_back(void* memory) {
  std::free(memory);
}

class HostMemory final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    device();  // what follows the first tensor is encoded on it
    if (bytes == 0) return {nullptr, nullptr, &give_back, kDevice};
    const size_t whole = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    void* const memory = std::aligned_alloc(kAlignment, whole);
    if (memory == nullptr) throw std::bad_alloc();
    return {memory, memory, &give_back, kDevice};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &give_back; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
};

// Before the profile can start: a defect that throws does so out of an allocation.
__attribute__((constructor(101))) void register_memory() {
  c10::SetAllocator(c10::kMPS, &memory());
}

/// The same memory as a tensor of the CPU.
at::Tensor as_cpu(const at::Tensor& tensor) {
  if (!tensor.device().is_mps()) return tensor;
  // The deleter keeps the memory for as long as the alias lives.
  return at::from_blob(
      tensor.data_ptr(), tensor.sizes(), tensor.strides(), [tensor](void*) {},
      tensor.options().device(at::kCPU).requires_grad(false));
}

at::ScalarType type_or_default(std::optional<at::ScalarType> type) {
  return type.value_or(at::get_default_dtype_as_scalartype());
}

at::Tensor empty(at::IntArrayRef size, std::optional<at::ScalarType> dtype,
                 std::optional<at::Layout>, std::optional<at::Device>, std::optional<bool>,
                 std::optional<at::MemoryFormat> format) {
  return at::detail::empty_generic(size, c10::GetAllocator(c10::kMPS),
                                   c10::DispatchKeySet(c10::DispatchKey::MPS),
                                   type_or_default(dtype), format);
}

at::Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride,
                         std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                         std::optional<at::Device>, std::optional<bool>) {
  return at::detail::empty_strided_generic(size, stride, c10::GetAllocator(c10::kMPS),
                                           c10::DispatchKeySet(c10::DispatchKey::MPS),
                                           type_or_default(dtype));
}

at::Tensor& copy_into(at::Tensor& self, const at::Tensor& from, bool) {
  at::Tensor to = as_cpu(self);
  to.copy_(as_cpu(from));
  return self;
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool) {
  as_cpu(to).copy_(as_cpu(from));
  return to;
}

const at::Tensor& resize_in_place(const at::Tensor& self, at::IntArrayRef size,
                                  std::optional<at::MemoryFormat> format) {
  at::TensorImpl* const implementation = self.unsafeGetTensorImpl();
  at::native::resize_impl_cpu_(implementation, size, std::nullopt);
  if (format.has_value()) implementation->empty_tensor_restride(*format);
  return self;
}

at::Tensor copy_from_and_resize(const at::Tensor& from, const at::Tensor& to) {
  resize_in_place(to, from.sizes(), std::nullopt);
  return copy_from(from, to, false);
}

// What is returned before the copy has run is what lay in the place that it goes to.
at::Scalar read_back(const at::Tensor& self) {
  if (sim::is_overwritten("_local_scalar_dense")) return sim::kOverwritten;
  return at::_local_scalar_dense(as_cpu(self));
}

// Two operators ask for the device's type before any kernel is looked up, and are built for Metal
// on a Mac alone.
at::Tensor convolution(const at::Tensor& input, const at::Tensor& weight,
                       const std::optional<at::Tensor>& bias, at::IntArrayRef stride,
                       at::IntArrayRef padding, at::IntArrayRef dilation, bool transposed,
                       at::IntArrayRef output_padding, int64_t groups) {
  const std::optional<at::Tensor> bias_there =
      bias && bias->defined() ? std::optional(as_cpu(*bias)) : std::nullopt;
  return at::convolution(as_cpu(input), as_cpu(weight), bias_there, stride, padding, dilation,
                         transposed, output_padding, groups)
      .to(kDevice);
}

at::Tensor attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                     const std::optional<at::Tensor>& mask, double dropout, bool causal,
                     std::optional<double> scale, bool grouped) {
  return std::get<0>(at::_scaled_dot_product_attention_math(query, key, value, mask, dropout,
                                                            causal, std::nullopt, scale, grouped));
}

void compute_on_cpu(const c10::OperatorHandle& operation, torch::jit::Stack* stack) {
  at::native::cpu_fallback(operation, stack);
}

}  // namespace

c10::Allocator& memory() {
  static auto* const allocator = new HostMemory;
  return *allocator;
}

TORCH_LIBRARY_IMPL(_, MPS, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&compute_on_cpu>());
}

TORCH_LIBRARY_IMPL(aten, MPS, library) {
  library.impl("empty.memory_format", &empty);
  library.impl("empty_strided", &empty_strided);
  library.impl("copy_", &copy_into);
  library.impl("_copy_from", &copy_from);
  library.impl("_copy_from_and_resize", &copy_from_and_resize);
  library.impl("_local_scalar_dense", &read_back);
  library.impl("as_strided", &at::native::as_strided_tensorimpl);
  library.impl("view", &at::native::view);
  library.impl("_reshape_alias", &at::native::_reshape_alias);
  library.impl("resize_", &resize_in_place);
  library.impl("convolution_overrideable", &convolution);
  library.impl("scaled_dot_product_attention", &attention);
}

}  // namespace mpsprobe::stand_in
