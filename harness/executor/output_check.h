#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "harness/record/process_record.h"
#include "harness/wire/cell.h"
#include "harness/wire/own_command.h"

namespace mpsprobe {

/// The first place where two outputs differ, in words; empty where they are the same. They are
/// compared word by word, numbers by value: they may differ by 1e-4 of the larger one.
std::string difference(std::string_view expected, std::string_view output);

/// Looks at what somebody's own command printed, as --expect-output and --fail-on-output ask. Safe
/// to use from several threads.
class OutputCheck {
 public:
  explicit OutputCheck(OwnCommand command) : command_(std::move(command)) {}

  /// Adds to a process that left with 0 what is wrong about its output, as failures that it told
  /// of. `run_alone` runs the cell with one thread and one process, for its output; it is called
  /// once a cell, or once a seed where the command has the seed.
  using RunAlone = std::function<ProcessRecord()>;
  void look_at(ProcessRecord& process, const Cell& cell, uint64_t seed, const RunAlone& run_alone);

 private:
  struct Expected {
    std::string output;
    std::string problem;  ///< why there is none
  };
  const Expected& expected(const Cell& cell, uint64_t seed, const RunAlone& run_alone);

  OwnCommand command_;
  std::mutex mutex_;
  std::map<std::string, Expected> expected_;
};

}  // namespace mpsprobe
