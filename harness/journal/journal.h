#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/journal/stored_trials.h"
#include "harness/matrix/planned_cells.h"
#include "harness/record/trial.h"
#include "harness/record/trial_limits.h"
#include "harness/wire/start_process.h"

namespace mpsprobe {

/// The journal could not be read, written or locked. The message says what to do.
class JournalError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One worker of a campaign, as `WORKER describe` answered when the campaign began.
struct WorkerInfo {
  std::string name;         ///< "stock", "fork"
  std::string path;         ///< of the executable
  nlohmann::json describe;  ///< its whole answer
};

/// Whether the worker names the backend, available here or not: it is not asked for cells of
/// another. One that names none is asked for every cell.
bool names_backend(const WorkerInfo& worker, Backend backend);

/// One of several runs that share a plan: which, from 0, and of how many.
struct Shard {
  size_t index = 0;
  size_t count = 1;
};

/// What a campaign set out to do: the first record of a journal. Nothing in it changes later.
struct CampaignHeader : TrialLimits {
  std::string mpsprobe_version;
  std::string mpsprobe_build;  ///< commit and compiler (own_build.h); empty in old journals
  std::string started;         ///< UTC
  std::vector<std::string> command_line;
  uint64_t seed = 0;
  int trials = 0;          ///< per cell and worker; where it settles, before it looks at results
  double settle_rate = 0;  ///< --settle: which failure rate is to be told; 0: a fixed plan
  /// Titles of blocks whose cells are asked where cells like them failed (following.h): the run
  /// looks for what fails, and spends the rest of its budget on that. Empty: a plan.
  std::vector<std::string> follow;
  int jobs = 1;
  /// How processes are started; nothing: in the quickest way that is proven for the backend.
  std::optional<StartProcess> start_process = StartProcess::exec;
  int max_failures = 0;                    ///< failing trials after which it ends; 0: no limit
  std::vector<std::string> environment;    ///< --env, as K=V
  std::vector<std::string> crash_reports;  ///< folders where the system's crash reports appear
  nlohmann::json machine;                  ///< platform facts (platform.h)
  std::vector<WorkerInfo> workers;
  std::string matrix_name;
  std::string matrix_description;
  PlannedCells cells;                    ///< what is run, in canonical order
  std::vector<LeftOut> left_out;         ///< what is not, and why
  std::optional<Shard> shard;            ///< of a run that does a part of the plan
  PlannedCells whole;                    ///< with a shard: the cells of all of them
  std::vector<std::string> merged_from;  ///< names of the runs that were merged into this one
  std::string origin;  ///< digest of machine, account and folder; empty: not known
};

/// Why a run ended. A journal without one was killed.
struct CampaignEnd {
  /// "complete", "interrupted", "budget", "failures", "device_lost", "setup_failed"
  std::string reason;
  std::string ended;  ///< UTC
  std::string note;   ///< for people
  /// How many processors others used meanwhile, on average (machine_use.h); 0: not known, or none.
  double processors_of_others = 0;
};

/// A line of a journal that is not to be believed. Its trial counts as not run.
struct DamagedLine {
  size_t line = 0;  ///< in the file, from 1
  std::string why;  ///< for people
};

/// A whole journal as read.
struct Journal {
  std::string run;  ///< its name, which every line's checksum is bound to; empty: of an old version
  CampaignHeader header;
  std::map<std::string, nlohmann::json>
      provenances;  ///< by id: in `trials`, HelloEvent::provenance is the id
  /// The images that processes had loaded, by id, in the order of the loader: each distinct list
  /// once. ProcessRecord::image_set is the id.
  std::map<std::string, std::vector<ImageSeen>> image_sets;
  std::vector<TrialRecord> trials;  ///< in the order in which they were written
  /// The trials instead, where they stay in the file.
  std::shared_ptr<const StoredTrials> stored;
  std::vector<CampaignEnd> ends;  ///< one for each time that it ran
  bool torn = false;  ///< the last line was cut off by a kill; it is not part of `trials`
  std::vector<DamagedLine> damaged;  ///< skipped: nothing of them is in here
  uint64_t next_number = 0;          ///< of the line that is appended next
  bool live = false;  ///< another process was writing it while it was read (is_being_written)
};

/// Reads a journal. Tolerates a last line that a kill cut off, and skips lines that were changed,
/// are of another run or stand there twice: `damaged` names them. What a trial refers to by its id
/// may have been on one of them, and is then in neither `provenances` nor `image_sets`. Throws
/// JournalError, naming file and line, where the first record, which says what the run is, is not
/// whole, or of another version.
Journal read_journal(const std::filesystem::path& file);

/// The same, where the trials stay in the file: they are in Journal::stored, and each is shown to
/// `take` as it is read, without what a later line says of it (StoredTrials::known_goods).
Journal read_journal(const std::filesystem::path& file,
                     const std::function<void(const TrialRecord&)>& take);

/// Its first record alone, which says what the run is. Throws as read_journal.
CampaignHeader read_header(const std::filesystem::path& file);

/// The trials of a journal in their order, wherever they are.
void for_each_trial(const Journal& journal, const std::function<void(const TrialRecord&)>& take);
/// One of them, by its place in that order.
TrialRecord trial_at(const Journal& journal, size_t index);

/// Whether a process holds the lock of a JournalWriter on this file. Not to be asked by one that
/// does.
bool is_being_written(const std::filesystem::path& file);

/// Whether a file begins with a whole line: a journal without one holds nothing, and its run never
/// began.
bool has_first_record(const std::filesystem::path& file);

/// Appends records; each is on disk (fdatasync) when the call returns. Holds an exclusive lock on
/// the file for its life, so that two runners cannot write one journal. Safe to call from several
/// threads.
class JournalWriter {
 public:
  /// Creates `file`, which appears with its whole header or not at all. Throws JournalError where
  /// it exists already.
  JournalWriter(const std::filesystem::path& file, const CampaignHeader& header);
  /// Continues an existing journal: locks it, reads it, and cuts off a torn last line. Damaged
  /// lines go into `file` + ".damaged": what is run again stands in their place. Whose it is has to
  /// be asked before (read_header): this writes. Throws JournalError, for a link or a pipe too.
  explicit JournalWriter(const std::filesystem::path& file);
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;
  ~JournalWriter();

  /// Throws JournalError where the disk is full; the file then still ends with a whole record.
  void append(const TrialRecord& trial);
  /// The known-good cell that ran after the trial of that place in the schedule.
  void append(uint64_t sequence, const KnownGood& known_good);
  void append(const CampaignEnd& end);

  /// Its header, and the trials that it held when it was opened to be continued.
  const Journal& existing() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mpsprobe
