#include "scenarios/mlx/mlx_operation.h"

namespace mpsprobe {

std::span<const MlxOperation> mlx_operations() {
  static const std::vector<MlxOperation> kAll = [] {
    std::vector<MlxOperation> all;
    for (const auto group : {mlx_single_operations(), mlx_models(), mlx_lazy_operations()}) {
      all.insert(all.end(), group.begin(), group.end());
    }
    return all;
  }();
  return kAll;
}

}  // namespace mpsprobe
