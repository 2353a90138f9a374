#include "scenarios/operations/sizes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>
#include <vector>

#include "scenarios/comparison/shape.h"
#include "scenarios/worker/workload.h"

namespace mpsprobe {
namespace {

constexpr std::pair<at::ScalarType, std::string_view> kTypeNames[] = {
    {at::kFloat, "float32"},  {at::kHalf, "float16"}, {at::kBFloat16, "bfloat16"},
    {at::kDouble, "float64"}, {at::kInt, "int32"},    {at::kLong, "int64"},
    {at::kBool, "bool"},
};

}  // namespace

Sizes read_sizes(const Operation& operation, std::string_view shape) {
  return read_shape({operation.name, operation.shape, operation.dimensions, operation.refuse},
                    shape);
}

at::ScalarType read_dtype(const Operation& operation, std::string_view dtype) {
  if (operation.dtypes.empty()) {
    if (dtype == "default") {
      return at::kFloat;
    }
    throw UnsupportedError(fmt::format(
        "dtype={}: operation {} uses several types of its own at once. Leave dtype at its default",
        dtype, operation.name));
  }
  if (dtype == "default") {
    return operation.dtypes.front();
  }
  std::vector<std::string_view> possible;
  for (const at::ScalarType type : operation.dtypes) {
    if (name_of(type) == dtype) {
      return type;
    }
    possible.push_back(name_of(type));
  }
  throw UnsupportedError(fmt::format("dtype={}: operation {} does not run with it. Possible are {}",
                                     dtype, operation.name, fmt::join(possible, ", ")));
}

std::string_view name_of(at::ScalarType dtype) {
  for (const auto& [type, name] : kTypeNames) {
    if (type == dtype) {
      return name;
    }
  }
  return "unknown";
}

}  // namespace mpsprobe
