#include "harness/stack/stack.h"

#include <algorithm>
#include <array>

namespace mpsprobe {
namespace {

constexpr std::array<std::string_view, 7> kWaits{"none",  "lock",  "condition", "join",
                                                 "input", "sleep", "other"};

}  // namespace

std::string_view name_of(Wait::Kind kind) {
  return kWaits[static_cast<size_t>(kind)];
}

std::optional<Wait::Kind> wait_kind_named(std::string_view name) {
  const auto at = std::find(kWaits.begin(), kWaits.end(), name);
  if (at == kWaits.end()) return std::nullopt;
  return static_cast<Wait::Kind>(at - kWaits.begin());
}

}  // namespace mpsprobe
