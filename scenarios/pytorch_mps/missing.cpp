// What LibTorch for Linux leaves out of the device mps, and its build for a Mac has: a case each in
// ATen/native/DispatchStub.cpp and ATen/native/Copy.cpp.
#define HAVE_AVX2_CPU_DEFINITION
#define HAVE_AVX512_CPU_DEFINITION
#include <ATen/ATen.h>
#include <ATen/native/DispatchStub.h>
#include <ATen/native/mps/Copy.h>
#include <dlfcn.h>
#include <torch/library.h>

namespace at::native {
namespace {

/// LibTorch's own, which this library stands before.
template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

void* DispatchStubImpl::get_call_ptr(c10::DeviceType device, void* scalar, void* avx512,
                                     void* avx2) {
  if (device == c10::DeviceType::MPS) {
    TORCH_INTERNAL_ASSERT(mps_dispatch_ptr, "DispatchStub: missing MPS kernel");
    return mps_dispatch_ptr;
  }
  using Function = void* (*)(DispatchStubImpl*, c10::DeviceType, void*, void*, void*);
  static const auto libtorchs =
      next<Function>("_ZN2at6native16DispatchStubImpl12get_call_ptrEN3c1010DeviceTypeEPvS4_S4_");
  return libtorchs(this, device, scalar, avx512, avx2);
}

TORCH_LIBRARY_IMPL(aten, MPS, m) {
  m.impl("copy_", [](at::Tensor& self, const at::Tensor& source, bool non_blocking) -> at::Tensor& {
    return mps::mps_copy_(self, source, non_blocking);
  });
}

}  // namespace at::native
