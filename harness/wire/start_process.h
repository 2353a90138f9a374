#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mpsprobe {

/// How the process of a trial comes to be. In every way it is a process of its own, with its own
/// memory, channels and leash.
enum class StartProcess : uint8_t {
  exec,     ///< the program is started for the trial
  standby,  ///< it was started ahead, has loaded its library, and waits to be told its cell
  fork,  ///< Linux: forked by a process that has loaded the library, has one thread and no device
};

/// The word of --start-process, the journal and the worker's answer.
std::string_view name_of(StartProcess start);
std::optional<StartProcess> start_process_named(std::string_view name);

/// What journals and reports say where nothing was chosen: the quickest way that is proven.
constexpr std::string_view kQuickestStart = "quickest";
/// The word of what was chosen, or that.
std::string_view name_of(const std::optional<StartProcess>& chosen);

}  // namespace mpsprobe
