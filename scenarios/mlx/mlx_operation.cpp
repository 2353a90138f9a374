#include "scenarios/mlx/mlx_operation.h"

#include <algorithm>

namespace mpsprobe {

std::span<const MlxOperation* const> mlx_operations() {
  static const std::vector<const MlxOperation*> kAll = [] {
    std::vector<const MlxOperation*> all;
    for (const auto group : {mlx_single_operations(), mlx_models(), mlx_lazy_operations()}) {
      for (const MlxOperation& operation : group) all.push_back(&operation);
    }
    return all;
  }();
  return kAll;
}

const MlxOperation* find_mlx_operation(std::string_view name) {
  const auto all = mlx_operations();
  const auto at = std::find_if(all.begin(), all.end(), [name](const MlxOperation* operation) {
    return operation->name == name;
  });
  return at == all.end() ? nullptr : *at;
}

}  // namespace mpsprobe
