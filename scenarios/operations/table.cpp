#include <algorithm>

#include "scenarios/operations/operation.h"

namespace mpsprobe {

std::span<const at::ScalarType> floating_types() {
  static constexpr at::ScalarType kTypes[] = {at::kFloat, at::kHalf, at::kBFloat16};
  return kTypes;
}

std::span<const at::ScalarType> numeric_types() {
  static constexpr at::ScalarType kTypes[] = {at::kFloat, at::kHalf, at::kBFloat16, at::kInt,
                                              at::kLong};
  return kTypes;
}

std::span<const Operation* const> operations() {
  static const std::vector<const Operation*> kAll = [] {
    std::vector<const Operation*> all;
    for (const std::span<const Operation> group :
         {creation_operations(), elementwise_operations(), product_operations(),
          attention_operations(), mix_operations(), model_operations(), stacked_model_operations(),
          selftest_operations()}) {
      for (const Operation& operation : group) {
        all.push_back(&operation);
      }
    }
    return all;
  }();
  return kAll;
}

const Operation* find_operation(std::string_view name) {
  const auto all = operations();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Operation* each) { return each->name == name; });
  return found == all.end() ? nullptr : *found;
}

}  // namespace mpsprobe
