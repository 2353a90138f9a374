#include "harness/wire/start_process.h"

#include <algorithm>
#include <array>

namespace mpsprobe {
namespace {

constexpr std::array<std::string_view, 3> kStartProcesses{"exec", "standby", "fork"};

}  // namespace

std::string_view name_of(StartProcess start) {
  return kStartProcesses[static_cast<size_t>(start)];
}

std::string_view name_of(const std::optional<StartProcess>& chosen) {
  return chosen.has_value() ? name_of(*chosen) : kQuickestStart;
}

std::optional<StartProcess> start_process_named(std::string_view name) {
  const auto at = std::find(kStartProcesses.begin(), kStartProcesses.end(), name);
  if (at == kStartProcesses.end()) return std::nullopt;
  return static_cast<StartProcess>(at - kStartProcesses.begin());
}

}  // namespace mpsprobe
