#include <ATen/ops/relu.h>
#include <ATen/ops/zeros.h>

#include "scenarios/operations/operation.h"

// Operations that misbehave on the device on purpose: the known truth about errors of a GPU. Those
// that need no device are in scenarios/selftest.

namespace mpsprobe {
namespace {

// Elements from the tensor's memory to where nothing is mapped: 4 TiB further.
constexpr int64_t kNowhere = int64_t{1} << 40;

const Operation kSelftests[] = {
    {
        .name = "selftest.illegal_address",
        .summary = "a kernel reads an address where nothing is",
        .source = "self-test",
        .shape = "1024",
        .dimensions = "count",
        .dtypes = {},
        .verify = Verify::layout,
        .capturable = false,
        .only_on = Backend::cuda,
        .observed_as = {"aten::relu"},
        .run = [](const Call& call) -> Tensors {
          const at::Tensor lost = at::zeros(call.sizes, call.options);
          // Not where the reference is computed.
          if (lost.is_cuda()) {
            lost.unsafeGetTensorImpl()->set_storage_offset(kNowhere);
          }
          return {at::relu(lost)};
        },
    },
};

}  // namespace

std::span<const Operation> selftest_operations() {
  return kSelftests;
}

}  // namespace mpsprobe
