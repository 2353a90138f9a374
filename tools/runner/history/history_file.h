#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/statistics/fisher.h"
#include "reports/difference/run_facts.h"

namespace mpsprobe {

class Database;

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

/// A run in a list.
struct RunRow {
  std::string id;
  std::string started;  ///< UTC
  std::string machine;
  std::string system;
  bool simulated = false;
  int planned = 0;
  int undone = 0;
  int cells = 0;
  int trials = 0;
  int failures = 0;
  std::string libraries;
};

/// One night of a series.
struct NightRow {
  std::string run;
  std::string started;
  std::string system;   ///< "macOS 26A123": what may have changed besides the library
  std::string library;  ///< that was under test
  Proportion seen;
  int refused = 0;  ///< trials beside these, by the library
};

/// The nights of one cell of one worker on one machine, oldest first.
struct Series {
  std::string machine;
  std::string arm;
  std::string cell;
  bool simulated = false;
  std::vector<NightRow> nights;
};

/// The same for one of its signatures: failures with it, among all trials.
struct SignatureSeries {
  Series series;
  std::string signature;
};

/// What became of a run that was to be added.
enum class Added : unsigned char { fresh, again, contained };

/// Counts of runs in one SQLite file: raw, as they were, so that every answer can be computed anew.
/// A file is written in whole transactions: a kill leaves it as it was before. Not thread safe.
class HistoryFile {
 public:
  /// Throws HistoryError where it cannot be opened, is something else, or is damaged: what it has
  /// of each run is compared with a digest. Made where it is missing and `make` says so.
  HistoryFile(const std::filesystem::path& file, bool make);
  HistoryFile(const HistoryFile&) = delete;
  HistoryFile& operator=(const HistoryFile&) = delete;
  ~HistoryFile();

  /// Keeps a run. One that is there is replaced, as are runs that were merged into it; one that is
  /// part of a run that is there is not added. Throws HistoryError, also where it shares some of
  /// its parts with another run, whose trials would count twice.
  Added add(const KeptRun& run);

  /// Runs on the same machine that did not start after this one, oldest first, with the cells that
  /// it has as well; without those that share one of `parts` with it. Throws HistoryError, or
  /// InputError for a cell that this version does not know.
  std::vector<RunFacts> before(const KeptRun& run) const;

  std::vector<RunRow> runs() const;  ///< oldest first
  std::vector<Series> series() const;
  std::vector<SignatureSeries> signatures() const;

 private:
  /// Throws HistoryError where the file is not what was written.
  void check() const;

  std::unique_ptr<Database> database_;
};

/// "MacBook Pro, Apple M3": what a machine is called in the history. Pure.
std::string machine_label(const nlohmann::json& machine);

/// The earlier nights of a run, by the history in `file`: none without one. It is begun where it is
/// missing, so that a first night is judged as well. Throws as HistoryFile does.
std::vector<RunFacts> earlier_nights(const KeptRun& run, const std::optional<std::string>& file);

}  // namespace mpsprobe
