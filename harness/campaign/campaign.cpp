#include "harness/campaign/campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

#include "harness/campaign/following.h"
#include "harness/campaign/schedule.h"
#include "harness/campaign/settling.h"
#include "harness/campaign/trial_seed.h"
#include "harness/platform/machine_use.h"
#include "harness/wire/axis.h"
#include "harness/wire/own_command.h"

namespace mpsprobe {
namespace {

using Clock = std::chrono::steady_clock;

/// One cell on one worker: the places where they stand in the header.
struct Unit {
  uint32_t worker = 0;
  uint32_t cell = 0;
};

std::vector<Unit> units_of(const CampaignHeader& header) {
  const std::set<Backend> backends = header.cells.backends();
  std::vector<Unit> units;
  for (uint32_t worker = 0; worker < header.workers.size(); ++worker) {
    const WorkerInfo& info = header.workers[worker];
    std::set<Backend> asked;
    for (const Backend backend : backends) {
      if (names_backend(info, backend)) asked.insert(backend);
    }
    const bool all = asked == backends;
    for (uint32_t cell = 0; cell < header.cells.size(); ++cell) {
      if (all || asked.contains(header.cells.cell(cell).backend)) units.push_back({worker, cell});
    }
  }
  return units;
}

/// How often in a row trials that are set up alike fail in set-up, for one reason, before the rest
/// of them is given up: a library that is not found now is not found an hour later.
constexpr int kMostSetupFailures = 3;
/// The same where it could be set up before: what was changed meanwhile, and not now and then.
constexpr int kMostLaterSetupFailures = 10;

std::string arm_of(const std::string& worker, const Cell& cell) {
  std::string arm = fmt::format("worker {} on {}", worker, name_of(cell.backend));
  for (const char* name : {"env", "validation"}) {
    const Axis& axis = *find_axis(name);
    const std::string value = axis.read(cell);
    if (value != axis.default_value) arm += " with " + setting(axis, value, " ");
  }
  return arm;
}

/// Which arms of a campaign are given up. Trials are set up alike where worker, backend, variables
/// and Metal's validation are the same; a test of somebody's own has fixtures of its own besides.
/// Not thread safe.
class SetupFailures {
 public:
  explicit SetupFailures(bool own_tests) : own_tests_(own_tests) {}

  void add(const TrialRecord& trial) {
    Seen& seen = seen_[place_of(trial.worker, trial.cell)];
    if (seen.given_up()) return;  // others were under way
    const bool setup = trial.judgement.outcome == Outcome::setup_failed;
    const bool again = setup && seen.why == trial.judgement.signature;
    seen.failures = again ? seen.failures + 1 : setup ? 1 : 0;
    seen.worked = seen.worked || !setup;
    if (setup) seen.why = trial.judgement.signature;
  }

  bool given_up(const std::string& worker, const Cell& cell) const {
    const auto is = [](const auto& entry) { return entry.second.given_up(); };
    if (std::none_of(seen_.begin(), seen_.end(), is)) return false;  // nearly always
    const auto seen = seen_.find(place_of(worker, cell));
    return seen != seen_.end() && seen->second.given_up();
  }

  /// Names them with the reason, for people; "" where none is given up.
  std::string in_words() const {
    std::string text;
    for (const auto& [arm, seen] : seen_) {
      if (!seen.given_up()) continue;
      text += fmt::format("{}{} was given up: {} trials in a row failed in set-up: {}",
                          text.empty() ? "" : "; ", arm, seen.failures, seen.why);
    }
    return text;
  }

 private:
  struct Seen {
    int failures = 0;  ///< in a row, for one reason
    std::string why;
    bool worked = false;
    bool given_up() const {
      return failures >= (worked ? kMostLaterSetupFailures : kMostSetupFailures);
    }
  };
  std::string place_of(const std::string& worker, const Cell& cell) const {
    return (own_tests_ ? "test " + cell.op + " of " : "") + arm_of(worker, cell);
  }

  bool own_tests_;
  std::map<std::string, Seen> seen_;  ///< by place, in words
};

/// One run of a campaign: what its jobs share.
class Campaign {
 public:
  Campaign(const Journal& known, JournalWriter& journal, const DeviceCare& care,
           const OnTrial& on_trial, const std::atomic<bool>& interrupted)
      : header_(known.header),
        journal_(journal),
        care_(care),
        on_trial_(on_trial),
        interrupted_(interrupted),
        units_(units_of(header_)),
        schedule_(units_.size(), static_cast<size_t>(header_.trials), header_.seed),
        start_(Clock::now()),
        setup_failures_(names_own_tests(header_.environment)) {
    if (header_.settle_rate > 0 || !header_.follow.empty()) begin_looking();
    for (const TrialRecord& trial : known.trials) {
      const Key key{trial.worker, to_string(trial.cell), trial.trial};
      if (is_unsettled(trial) || may_be_mended(trial.judgement)) {
        int& attempts = attempts_[key];
        attempts = std::max(attempts, trial.attempt + 1);
      } else if (done_.insert(key).second) {
        ++progress_.done;
        learn(trial);
      }
      if (is_failure(trial.judgement.outcome)) ++progress_.failures;
      if (!may_be_mended(trial.judgement)) setup_failures_.add(trial);
    }
    count_planned();
  }

  CampaignEnd run() {
    const MachineUse machine;
    std::vector<std::thread> jobs;
    for (int job = 0; job < header_.jobs; ++job) {
      try {
        jobs.emplace_back([this] { work(); });
      } catch (const std::system_error&) {
        if (jobs.empty()) throw;
        break;  // fewer at a time will do
      }
    }
    for (std::thread& job : jobs) job.join();
    if (error_) std::rethrow_exception(error_);
    if (const std::string given_up = setup_failures_.in_words(); !given_up.empty()) {
      stop("setup_failed", given_up);
    }
    CampaignEnd end;
    end.reason = stop_reason_.empty() ? "complete" : stop_reason_;
    end.note = note_;
    end.ended = utc_now();
    end.processors_of_others = machine.processors_of_others().value_or(0);
    journal_.append(end);
    return end;
  }

 private:
  using Key = std::tuple<std::string, std::string, int>;  // worker, cell, number
  using UnitKey = std::pair<std::string, std::string>;    // worker, cell

  struct Job {
    TrialRequest request;
    int attempt = 0;
  };

  // What comes after the trials of the plan then follows from what was seen.
  void begin_looking() {
    std::vector<SeenCell> cells;
    const std::set<std::string> blocks(header_.follow.begin(), header_.follow.end());
    for (const Unit& unit : units_) {
      const PlannedCell planned = header_.cells[unit.cell];
      const std::string& worker = header_.workers[unit.worker].name;
      const bool if_failed = blocks.contains(planned.block);
      unit_of_.emplace(UnitKey{worker, to_string(planned.cell)}, cells.size());
      cells.push_back({worker, planned.cell, {}, 0, if_failed});
      if (!if_failed) floor_ += static_cast<size_t>(header_.trials);
    }
    if (header_.settle_rate > 0) {
      settling_.emplace(header_.settle_rate, std::move(cells));
    } else {
      following_.emplace(std::move(cells));
    }
  }

  bool looks() const { return settling_ || following_; }

  /// How many trials are planned before the first one that follows from what was seen.
  size_t floor() const { return following_ ? floor_ : schedule_.size(); }

  void learn(const TrialRecord& trial) {
    if (!looks()) return;
    const auto unit = unit_of_.find({trial.worker, to_string(trial.cell)});
    if (unit == unit_of_.end()) return;
    const Outcome outcome = trial.judgement.outcome;
    if (settling_) settling_->add(unit->second, is_evidence(outcome), is_failure(outcome));
    if (following_) following_->add(unit->second, is_evidence(outcome), is_failure(outcome));
  }

  /// How many trials there will be, as far as that is known: what settles may take more.
  void count_planned() {
    progress_.planned = floor();
    if (following_) {
      // Its time says how many there will be.
      const double share = header_.budget_seconds > 0 ? elapsed() / header_.budget_seconds : 1;
      const auto done = static_cast<double>(progress_.done);
      progress_.planned =
          std::max(progress_.planned, static_cast<size_t>(done / std::clamp(share, 0.05, 1.0)));
    }
    if (!settling_) return;
    size_t further = 0;
    for (const SettlingLine& line : settling_->lines()) {
      if (line.state == LineState::open) further += static_cast<size_t>(line.further);
    }
    progress_.planned = std::max(schedule_.size(), progress_.done) + further;
  }

  void work() {
    try {
      while (std::optional<Job> job = next()) {
        while (attempt(*job)) ++job->attempt;
      }
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!error_) error_ = std::current_exception();
      stop("error", "");
    }
  }

  /// Runs a trial once; true where it has to run again.
  bool attempt(Job& job) {
    std::shared_lock<std::shared_mutex> together(device_, std::defer_lock);
    std::unique_lock<std::shared_mutex> alone(device_, std::defer_lock);
    {
      // Who waits to be alone goes before those that come later, and is not put off by them.
      const std::lock_guard<std::mutex> door(door_);
      if (job.attempt > 0) {
        alone.lock();
      } else {
        together.lock();
      }
    }
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (job.attempt > 0 && !may_go_on()) return false;  // others may have ended the run meanwhile
      job.request.before = std::exchange(last_started_, to_string(job.request.cell));
    }
    const std::optional<TrialRecord> trial = care_.attempt(job.request, job.attempt);
    if (!trial.has_value()) return false;
    store(*trial);
    const DeviceLook seen = care_.look(job.request, *trial, journal_);
    if (!seen.lost.empty()) {
      const std::lock_guard<std::mutex> lock(mutex_);
      stop("device_lost", seen.lost);
    }
    return is_unsettled(*trial);
  }

  // With `mutex_` held.
  bool may_go_on() {
    if (interrupted_.load()) stop("interrupted", "ended by the user");
    if (header_.budget_seconds > 0 && elapsed() > header_.budget_seconds) {
      // What was settled is complete, however much more was learnt of it; and a run that spends
      // what is left on what fails, once it has looked everywhere.
      const bool complete = looks() && progress_.done >= floor() &&
                            (following_ || !settling_->next([](size_t) { return false; }));
      stop(complete ? "complete" : "budget",
           complete && settling_ ? "every boundary was settled" : "the time budget was used up");
    }
    if (header_.max_failures > 0 && failures_now_ >= header_.max_failures) {
      stop("failures", std::to_string(failures_now_) + " trials failed");
    }
    return stop_reason_.empty();
  }

  std::optional<Job> next() {
    const std::lock_guard<std::mutex> lock(mutex_);
    while (may_go_on()) {
      std::optional<Slot> slot = ahead_.has_value() ? std::exchange(ahead_, {}) : planned();
      if (!slot.has_value()) slot = that_settles();
      if (!slot.has_value()) break;
      const Key key = key_of(*slot);
      if (done_.contains(key) || given_up(slot->unit)) continue;
      if (looks()) running_.insert(key);
      const auto attempts = attempts_.find(key);
      ahead_ = planned();
      Job job;
      job.request = {&worker_of(*slot),
                     cell_of(*slot),
                     static_cast<int>(slot->trial),
                     slot->place,
                     "",
                     trial_seed(header_.seed, static_cast<int>(slot->trial)),
                     {}};
      if (ahead_.has_value()) {
        job.request.following = TrialRequest::Following{&worker_of(*ahead_), cell_of(*ahead_)};
      }
      job.attempt = attempts == attempts_.end() ? 0 : attempts->second;
      return job;
    }
    return std::nullopt;
  }

  const WorkerInfo& worker_of(const Slot& slot) const {
    return header_.workers[units_[slot.unit].worker];
  }
  Cell cell_of(const Slot& slot) const { return header_.cells.cell(units_[slot.unit].cell); }
  Key key_of(const Slot& slot) const {
    return {worker_of(slot).name, to_string(cell_of(slot)), static_cast<int>(slot.trial)};
  }

  bool given_up(size_t unit) const {
    return setup_failures_.given_up(header_.workers[units_[unit].worker].name,
                                    header_.cells.cell(units_[unit].cell));
  }

  /// The next trial of the plan that is not done. With `mutex_` held.
  std::optional<Slot> planned() {
    while (std::optional<Slot> slot = schedule_.next()) {
      if (following_ && following_->cells()[slot->unit].if_failed) continue;
      slot->place = position_++;
      if (!done_.contains(key_of(*slot)) && !given_up(slot->unit)) return slot;
    }
    return std::nullopt;
  }

  /// Behind the trials that every cell gets: what answers most, by all that is known by now. With
  /// `mutex_` held.
  std::optional<Slot> that_settles() {
    if (!looks()) return std::nullopt;
    const auto busy = [this](size_t unit) {
      if (given_up(unit)) return true;
      const Key first = key_of({static_cast<uint32_t>(unit), 0});
      const auto at = running_.lower_bound(first);
      return at != running_.end() && std::get<0>(*at) == std::get<0>(first) &&
             std::get<1>(*at) == std::get<1>(first);
    };
    std::optional<size_t> unit = following_ ? following_->next(busy) : settling_->next(busy);
    if (!unit && settling_ && header_.budget_seconds > 0) unit = settling_->next_to_sharpen(busy);
    // Comes only where nothing else is left: a unit that is busy, as given-up ones are here, is
    // last.
    if (!unit || given_up(*unit)) return std::nullopt;
    // Without a budget it ends when nothing that failed is left to be asked.
    if (following_ && header_.budget_seconds <= 0 && !following_->asks(*unit)) return std::nullopt;
    const bool fresh = following_ && following_->cells()[*unit].if_failed;
    int trial = fresh ? 0 : header_.trials;
    for (Key key = key_of({static_cast<uint32_t>(*unit), static_cast<uint32_t>(trial)});
         done_.contains(key) || running_.contains(key); std::get<2>(key) = ++trial) {
    }
    return Slot{static_cast<uint32_t>(*unit), static_cast<uint32_t>(trial), position_++};
  }

  void store(const TrialRecord& trial) {
    const std::lock_guard<std::mutex> lock(mutex_);
    journal_.append(trial);
    setup_failures_.add(trial);
    if (!is_unsettled(trial)) {
      ++progress_.done;
      ++progress_.done_now;
      if (looks()) {
        const Key key{trial.worker, to_string(trial.cell), trial.trial};
        done_.insert(key);
        running_.erase(key);
        learn(trial);
        count_planned();
      }
    }
    if (is_failure(trial.judgement.outcome)) {
      ++progress_.failures;
      if (!is_unsettled(trial)) ++failures_now_;
    }
    progress_.seconds = elapsed();
    on_trial_(trial, progress_);
  }

  // With `mutex_` held.
  void stop(const std::string& reason, const std::string& note) {
    if (!stop_reason_.empty()) return;
    stop_reason_ = reason;
    note_ = note;
  }

  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  const CampaignHeader& header_;
  JournalWriter& journal_;
  const DeviceCare& care_;
  const OnTrial& on_trial_;
  const std::atomic<bool>& interrupted_;
  const std::vector<Unit> units_;
  Schedule schedule_;
  const Clock::time_point start_;
  std::optional<Settling> settling_;
  std::optional<Following> following_;
  size_t floor_ = 0;
  std::map<UnitKey, size_t> unit_of_;
  std::set<Key> done_;
  std::set<Key> running_;
  SetupFailures setup_failures_;
  std::map<Key, int> attempts_;  ///< of trials that are not done: how many there were
  std::mutex door_;              ///< to the device
  std::shared_mutex device_;     ///< used by any number of jobs together, or by one alone
  std::mutex mutex_;
  uint64_t position_ = 0;
  std::optional<Slot> ahead_;  ///< what was looked at already, and comes next
  std::string last_started_;
  Progress progress_;
  int failures_now_ = 0;  ///< of settled trials, since this run began
  std::string stop_reason_;
  std::string note_;
  std::exception_ptr error_;
};

}  // namespace

CampaignEnd run_campaign(const Journal& known, JournalWriter& journal, const DeviceCare& care,
                         const OnTrial& on_trial, const std::atomic<bool>& interrupted) {
  return Campaign(known, journal, care, on_trial, interrupted).run();
}

}  // namespace mpsprobe
