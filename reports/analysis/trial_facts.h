#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/journal/journal.h"
#include "reports/analysis/inside_share.h"

namespace mpsprobe {

/// How many processes were started in each way, by StartProcess.
using StartCounts = std::array<uint64_t, 3>;

/// What the analysis needs of one trial: a small part of its record, so that a report of a million
/// trials fits into memory. What trials share is held once, by the TrialFactsList, and the pointers
/// are good as long as that one is.
struct TrialFacts {
  const std::string* worker = nullptr;
  const Cell* cell = nullptr;
  const std::string* cell_id = nullptr;  ///< to_string(*cell)
  const Judgement* judgement = nullptr;  ///< without `why`
  const std::string* before = nullptr;   ///< TrialRecord::before
  const std::set<std::string>* observed_paths = nullptr;
  const std::string* path_unseen = nullptr;  ///< why a probe of the path did not see it; or null
  const std::string* unsupported = nullptr;  ///< unsupported_in_words, where it is that; or null
  const std::vector<std::string>* provenances = nullptr;  ///< of processes that gave one, in order
  uint32_t unit = 0;  ///< the same for the trials of one cell by one worker, and for no others
  int trial = 0;
  int attempt = 0;
  uint32_t most_inside = 0;
  double begun = 0;  ///< seconds since 1970; 0 where it does not say
  double seconds = 0;
  /// Of the whole trial; not a number where a process gave no result.
  double operations_per_second = std::numeric_limits<double>::quiet_NaN();
  uint64_t launches = 0;  ///< as `overlapped` and `most_inside` of intact flight recorders
  uint64_t overlapped = 0;
  InsideShare inside;    ///< of processes that told it
  uint64_t checked = 0;  ///< results, of processes that gave any
  uint64_t unchecked = 0;
  bool validation_silent = false;  ///< Metal's validation was asked for, and did not show itself
  bool observed = false;           ///< at least one process was
  uint64_t observed_calls = 0;     ///< in all of them
  const std::string* suspicion = nullptr;  ///< the first of the observer's, in full; or null
  bool device_sick = false;                ///< the known-good cell after it failed as well
};

/// Why the worker of a trial that is `unsupported` could not do what the cell asks: in full, as it
/// said so, where it reported it; else the title. At most some hundred bytes, as they came.
std::string unsupported_in_words(const TrialRecord& trial);

/// The facts of all trials of a journal, in its order. Not copied: its facts point into it.
class TrialFactsList {
 public:
  TrialFactsList() = default;
  TrialFactsList(const TrialFactsList&) = delete;
  TrialFactsList& operator=(const TrialFactsList&) = delete;

  /// Takes the next trial.
  void add(const TrialRecord& trial);
  /// What became known of a trial that was taken before.
  void set_known_good(size_t index, const KnownGood& known_good);

  size_t size() const { return facts_.size(); }
  const TrialFacts& operator[](size_t index) const { return facts_[index]; }
  auto begin() const { return facts_.begin(); }
  auto end() const { return facts_.end(); }

  /// Whose record each stands in, and the event, in the order of the records.
  const std::vector<std::pair<size_t, GpuEvent>>& gpu_events() const { return gpu_events_; }
  /// The time during which at least one of them ran.
  double busy_seconds() const;
  /// Of all processes of all trials.
  const StartCounts& starts() const { return starts_; }

 private:
  std::deque<TrialFacts> facts_;  // grows without a second copy
  std::vector<std::pair<size_t, GpuEvent>> gpu_events_;
  StartCounts starts_{};
  std::set<std::string> texts_;
  std::map<std::string, Cell> cells_;
  std::map<std::pair<const std::string*, const std::string*>, uint32_t> units_;
  std::map<std::string, Judgement> judgements_;
  std::set<std::set<std::string>> paths_;
  std::set<std::vector<std::string>> provenances_;
};

/// The GPU events of the trials that have any, by index into the journal's trials. The system may
/// report one only when the next trial already runs; then it stands in that one's record, and its
/// own time tells to which trial it belongs: the last one that had begun. Each event once in a
/// trial. Pure.
std::map<size_t, std::vector<GpuEvent>> gpu_events_of_trials(const TrialFactsList& trials);

}  // namespace mpsprobe
