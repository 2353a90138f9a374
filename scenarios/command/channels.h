#pragma once

#include <string>

namespace mpsprobe {

/// What the worker of commands leaves to the library that is loaded into the command, in variables
/// of the environment; this one by the process itself, "PID RECORDER GATE": two descriptors, which
/// are its own. In any other process they are nobody's.
constexpr const char* kChannelsVariable = "MPSPROBE_COMMAND_CHANNELS";

/// The folder into which a process that the command started writes its crash, as a flight recorder
/// by its number. It is made by the first that crashes.
constexpr const char* kCrashesVariable = "MPSPROBE_COMMAND_CRASHES";

}  // namespace mpsprobe
