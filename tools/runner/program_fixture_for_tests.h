#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "harness/process/command.h"

namespace mpsprobe {

/// Runs the built `mpsprobe` in a folder of its own, as a user would.
class ProgramTest : public testing::Test {
 protected:
  /// Seconds after which a program counts as hung. Some compile what they hand out, which takes a
  /// busy machine minutes; below the limit that CTest sets (cmake/Targets.cmake).
  static constexpr double kLongest = 280;

  struct Run {
    int exit_code = -1;  ///< -1: it did not exit by itself
    std::string out;
    std::string err;
  };

  ProgramTest();
  ~ProgramTest() override;

  /// `mpsprobe` with these arguments.
  Run mpsprobe(const std::vector<std::string>& arguments, double seconds = kLongest) const;
  /// A shell command; $mpsprobe and $worker (NAME=PATH of the self-test worker) are set.
  Run shell(const std::string& command, double seconds = kLongest) const;
  /// Writes a file into the folder and returns its path.
  std::string write(const std::string& name, const std::string& text) const;
  std::string read(const std::string& name) const;
  /// These arguments, and profiles for the simulated device: the built-in ones, whose defects hold
  /// a thread for 50 ms, so that threads meet there on a busy machine too.
  std::vector<std::string> with_slow_profiles(std::vector<std::string> arguments) const;
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
  std::string program_;
  std::string selftest_;  ///< "stock=PATH"
};

}  // namespace mpsprobe
