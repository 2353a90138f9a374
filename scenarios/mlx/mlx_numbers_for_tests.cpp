#include <mlx/array.h>
#include <mlx/ops.h>
#include <mlx/transforms.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "scenarios/comparison/shape.h"
#include "scenarios/mlx/arrays.h"
#include "scenarios/mlx/mlx_operation.h"

// Prints what each operation of the table computes of the seed 7, for thread 1 on the CPU: the
// Python worker's table is held against it (scenarios/python/parity_test.py).

namespace {

namespace mx = ::mlx::core;
using namespace mpsprobe;

constexpr uint64_t kSeed = 7;
constexpr int kThread = 1;

nlohmann::json numbers_of(const MlxOperation& operation) {
  const ShapeForm form{operation.name, operation.shape, operation.dimensions};
  const Sizes sizes = read_shape(form, "default");
  Numbers inputs(kSeed, 2 + 2 * kThread);
  Numbers parameters(kSeed, 0);
  const auto made = [&](auto* make, Numbers& numbers) {
    return make == nullptr ? Arrays{} : to_arrays(make(numbers, sizes));
  };
  Arrays results =
      operation.run({sizes, made(operation.inputs, inputs), made(operation.parameters, parameters),
                     mx::default_stream(mx::Device::cpu), kThread});
  nlohmann::json all = nlohmann::json::array();
  for (const mx::array& each : results) {
    mx::array wide =
        mx::contiguous(mx::astype(each, mx::float32, mx::Device::cpu), false, mx::Device::cpu);
    mx::eval(wide);
    const float* const data = wide.data<float>();
    all.push_back({{"sizes", std::vector<int>(wide.shape().begin(), wide.shape().end())},
                   {"numbers", std::vector<float>(data, data + wide.size())}});
  }
  return all;
}

}  // namespace

int main() {
  nlohmann::json all;
  for (const MlxOperation& operation : mlx_operations()) {
    if (operation.verify == MlxVerify::compare) {
      all[std::string(operation.name)] = numbers_of(operation);
    }
  }
  std::printf("%s\n", all.dump().c_str());
  return 0;
}
