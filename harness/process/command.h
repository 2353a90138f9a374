#pragma once

#include <string>
#include <vector>

#include "harness/record/process_record.h"

namespace mpsprobe {

/// What a short command printed and how it ended.
struct CommandResult {
  Termination termination = NotSpawned{};
  bool timed_out = false;
  std::string out;  ///< at most 4 MiB
  std::string err;  ///< at most 64 KiB
};

/// Runs a command to its end, at most `seconds` long (then it is killed), with that environment (as
/// K=V; all of it). Never throws for what the command does. Safe to call from any thread.
CommandResult run_command(const std::vector<std::string>& arguments, double seconds,
                          const std::vector<std::string>& environment);

}  // namespace mpsprobe
