#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "harness/journal/journal.h"

namespace mpsprobe {

/// Keeps the first core file of each failure in the run's folder. One thread at a time.
class KeptCores {
 public:
  /// Lifts this process's limit for core files, which the workers inherit, to what the system
  /// allows. Throws InputError where the system writes none that could be told from others: no such
  /// file (macOS), a program takes them, the limit is 0, or several trials at a time (`jobs`) would
  /// write the same file. Source: core(5).
  explicit KeptCores(int jobs);

  /// Moves what a crash of the trial left to `cores` in the folder `run`, or removes it where the
  /// failure has one already. Says on stderr what cannot be moved, which then stays where it is.
  void take(const TrialRecord& trial, const std::filesystem::path& run);

  /// Says on stderr which core is of which failure.
  void say_kept() const;

 private:
  /// Of a dead process; empty where there is none.
  std::filesystem::path written_by(int64_t pid) const;

  std::string pattern_;                                    ///< as in core(5), with the folder
  std::filesystem::file_time_type begun_;                  ///< older files are somebody else's
  bool lost_ = false;                                      ///< one was not found, and that was said
  std::vector<std::pair<std::string, std::string>> kept_;  ///< failures, and where their cores are
};

}  // namespace mpsprobe
