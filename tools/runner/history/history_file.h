#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/folder/descriptor.h"
#include "harness/journal/journal.h"
#include "harness/statistics/fisher.h"
#include "reports/difference/run_facts.h"

namespace mpsprobe {

/// The history cannot be opened, read or written. The message says what to do.
class HistoryError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A run as the history keeps it.
struct KeptRun {
  std::string id;               ///< the name that every line of its journal is bound to
  std::set<std::string> parts;  ///< ids of the runs that were merged into it, and its own
  RunFacts facts;
};

/// A run that the user named. Throws InputError where its folder holds no journal, JournalError
/// where that cannot be read.
KeptRun kept_run(const std::string& name);
/// The same of what was read already. Pure.
KeptRun kept_run(const std::string& name, const Journal& journal, const Analysis& analysis);

/// The nights of one cell of one worker on one machine, oldest first.
struct Series {
  struct Night {
    const KeptRun* run = nullptr;
    std::string library;  ///< that was under test
    Proportion seen;
  };
  std::string machine;
  std::string arm;
  std::string cell;
  std::string code;  ///< RunFacts::code
  bool simulated = false;
  std::vector<Night> nights;
};

/// What became of a run that was to be added.
enum class Added : unsigned char { fresh, again, contained };

/// Counts of runs: a sealed line of JSON each, raw, as they were, so that every answer can be
/// computed anew. The file is written anew as a whole: a kill leaves it as it was before.
class HistoryFile {
 public:
  /// Reads it; none where it is missing. With `change` nobody else changes a history in the folder
  /// meanwhile. Throws HistoryError where it is something else, or damaged.
  explicit HistoryFile(std::filesystem::path file, bool change = false);

  /// Takes a run in. One that is there is replaced, as are runs that were merged into it; one that
  /// is part of a run that is there is not added. Throws HistoryError where it shares some of its
  /// parts with another run, whose trials would count twice.
  Added add(KeptRun run);
  /// Throws HistoryError.
  void write() const;

  /// Runs on the same machine that did not start after this one, oldest first; without those that
  /// share one of `parts` with it.
  std::vector<RunFacts> before(const KeptRun& run) const;
  std::vector<Series> series() const;

 private:
  std::filesystem::path file_;
  Descriptor folder_;          ///< locked
  std::vector<KeptRun> runs_;  ///< oldest first
};

/// The system of a run: "macOS 26 25A123": what may have changed besides the library. Pure.
std::string system_label(const RunFacts& run);

/// The earlier nights of a run, by the history in `file`: none without one. It is begun where it is
/// missing, so that a first night is judged as well. Throws as HistoryFile does.
std::vector<RunFacts> earlier_nights(const KeptRun& run, const std::optional<std::string>& file);

}  // namespace mpsprobe
