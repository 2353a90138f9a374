#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "harness/wire/enum_words.h"

namespace mpsprobe {

/// How the process of a trial comes to be. In every way it is a process of its own, with its own
/// memory, channels and leash.
enum class StartProcess : uint8_t {
  exec,     ///< the program is started for the trial
  standby,  ///< it was started ahead, has loaded its library, and waits to be told its cell
  fork,  ///< Linux: forked by a process that has loaded the library, has one thread and no device
};

/// As --start-process, the journal and the worker's answer have them.
template <>
inline constexpr auto kWordsOf<StartProcess> = std::to_array<std::string_view>({"exec", "standby",
                                                                                "fork"});

/// What journals and reports say where nothing was chosen: the quickest way that is proven.
constexpr std::string_view kQuickestStart = "quickest";
/// The word of what was chosen, or that.
constexpr std::string_view name_of(const std::optional<StartProcess>& chosen) {
  return chosen.has_value() ? name_of(*chosen) : kQuickestStart;
}

}  // namespace mpsprobe
