#include <ATen/Parallel.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "scenarios/operations/cpu_side.h"
#include "scenarios/operations/operation.h"
#include "scenarios/operations/sizes.h"

// Prints what each operation of the table computes of the seed 7, for thread 1 on the CPU: the
// Python worker's table is held against it (scenarios/python/parity_test.py).

namespace {

using namespace mpsprobe;

constexpr uint64_t kSeed = 7;
constexpr int kThread = 1;

nlohmann::json numbers_of(const Operation& operation) {
  const CpuSide cpu_side;
  const Sizes sizes = read_sizes(operation, "default");
  const auto made = [&](auto* make, uint64_t stream) {
    Random random(kSeed, stream);
    return make == nullptr ? Tensors{} : make(random, sizes);
  };
  const Tensors inputs = made(operation.inputs, 2 + 2 * kThread);
  const Tensors parameters = made(operation.parameters, 0);
  const Tensors results = operation.run({.sizes = sizes,
                                         .inputs = inputs,
                                         .parameters = parameters,
                                         .options = at::dtype(at::kFloat),
                                         .variant = kThread});
  nlohmann::json all = nlohmann::json::array();
  for (const at::Tensor& each : results) {
    const at::Tensor wide = each.to(at::kDouble).contiguous();
    const auto* const data = static_cast<const double*>(wide.const_data_ptr());
    all.push_back({{"sizes", wide.sizes().vec()},
                   {"numbers", std::vector<double>(data, data + wide.numel())}});
  }
  return all;
}

}  // namespace

int main() {
  at::set_num_threads(1);
  nlohmann::json all;
  for (const Operation* operation : operations()) {
    if (operation->verify == Verify::compare && !operation->only_on.has_value()) {
      all[std::string(operation->name)] = numbers_of(*operation);
    }
  }
  std::printf("%s\n", all.dump().c_str());
  return 0;
}
