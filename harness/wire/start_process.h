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

}  // namespace mpsprobe
