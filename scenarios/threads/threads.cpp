#include "scenarios/threads/threads.h"

#include <time.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <latch>
#include <mutex>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>

#include "harness/wire/axis.h"
#include "scenarios/evidence/crash_handler.h"
#include "scenarios/threads/meeting.h"

namespace mpsprobe {
namespace {

/// Nanoseconds of a clock: CLOCK_MONOTONIC, CLOCK_THREAD_CPUTIME_ID, CLOCK_PROCESS_CPUTIME_ID.
inline int64_t nanoseconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// How long threads were inside launches, added up over them, and how much of that the processor
/// spent on the threads themselves: the rest they waited, be it for an interpreter's lock. Any
/// thread adds to it.
struct InsideTime {
  std::atomic<int64_t> nanoseconds{0};
  std::atomic<int64_t> cpu_nanoseconds{0};
};

/// Adds what the calling thread spends while this lives. Two calls of the system: `sum` is null
/// where nobody wants to know.
class InsideClock {
 public:
  explicit InsideClock(InsideTime* sum) : sum_(sum) {
    if (sum_ == nullptr) return;
    began_ = nanoseconds_of(CLOCK_MONOTONIC);
    cpu_began_ = nanoseconds_of(CLOCK_THREAD_CPUTIME_ID);
  }
  InsideClock(const InsideClock&) = delete;
  InsideClock& operator=(const InsideClock&) = delete;
  ~InsideClock() {
    if (sum_ == nullptr) return;
    sum_->cpu_nanoseconds += nanoseconds_of(CLOCK_THREAD_CPUTIME_ID) - cpu_began_;
    sum_->nanoseconds += nanoseconds_of(CLOCK_MONOTONIC) - began_;
  }

 private:
  InsideTime* sum_;
  int64_t began_ = 0;
  int64_t cpu_began_ = 0;
};

using Clock = std::chrono::steady_clock;

/// All threads leave within a few nanoseconds of one another, which a wake-up by the kernel would
/// not give: the last one to arrive opens it and the others spin. They yield, for there may be
/// fewer cores than threads. They spin only once all are there: until then they would take the time
/// that it needs to start the rest, most of all where an interpreter starts them.
class SpinBarrier {
 public:
  explicit SpinBarrier(int threads) : not_there_(threads), asleep_(threads) {}
  void arrive() {
    asleep_.fetch_sub(1, std::memory_order_acq_rel);
    come();
  }
  void arrive_and_wait() {
    come();
    for (int left = not_there_.load(std::memory_order_acquire); left > 0;
         left = not_there_.load(std::memory_order_acquire)) {
      not_there_.wait(left, std::memory_order_acquire);
    }
    asleep_.fetch_sub(1, std::memory_order_acq_rel);
    while (asleep_.load(std::memory_order_acquire) > 0) std::this_thread::yield();
  }

 private:
  void come() {
    if (not_there_.fetch_sub(1, std::memory_order_acq_rel) == 1) not_there_.notify_all();
  }

  std::atomic<int> not_there_;
  std::atomic<int> asleep_;
};

/// Counts the thread in for as long as the launch runs, also where it throws.
class LaunchScope {
 public:
  LaunchScope(FlightRecorder& recorder, uint32_t slot, uint32_t iteration) : recorder_(recorder) {
    recorder_.enter_launch(slot, iteration);
  }
  LaunchScope(const LaunchScope&) = delete;
  LaunchScope& operator=(const LaunchScope&) = delete;
  ~LaunchScope() { recorder_.leave_launch(); }

 private:
  FlightRecorder& recorder_;
};

using Turns = std::counting_semaphore<kMostThreads>;

/// Holds one of the turns at launching, also where the launch throws.
class Turn {
 public:
  explicit Turn(Turns& turns) : turns_(turns) { turns_.acquire(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() { turns_.release(); }

 private:
  Turns& turns_;
};

class Round {
 public:
  Round(const Cell& cell, int first_iteration, int iterations, Workload& workload,
        std::vector<std::unique_ptr<Lane>>& lanes, FlightRecorder& recorder,
        const std::function<void(const FailureEvent&)>& on_failure, const StartThread& start,
        InsideTime* inside)
      : cell_(cell),
        first_iteration_(first_iteration),
        iterations_(iterations),
        workload_(workload),
        lanes_(lanes),
        recorder_(recorder),
        on_failure_(on_failure),
        start_(start),
        inside_(inside),
        barrier_(in_turn(cell) ? 1 : cell.threads),
        meeting_(cell.threads),
        turns_(cell.throttle),
        done_(cell.threads) {}

  /// Returns when the threads have been joined. With end=exit, once each has done its iterations or
  /// failed: those that have not failed go on until the process has ended, and so this object must
  /// live as long.
  uint64_t run() {
    std::vector<JoinThread> threads;
    JoinThread beside;
    std::string problem;
    const auto start = [&](const std::string& name, int slot, auto work) -> JoinThread {
      try {
        return start_(static_cast<uint32_t>(slot), work);
      } catch (const std::exception& error) {
        problem = name + " cannot be started: " + error.what();
        called_off_.store(true);
        return nullptr;
      }
    };
    if (cell_.beside != BesideThreads::none) {
      beside = start("the thread beside them", cell_.threads, [this] { wait_beside(); });
    }
    for (int thread = 0; thread < cell_.threads; ++thread) {
      const auto work = [this, thread] { run_thread(thread); };
      JoinThread join;
      if (problem.empty() && cell_.start == Start::main) {
        work();
        continue;
      }
      if (problem.empty()) join = start("thread " + std::to_string(thread), thread, work);
      if (join == nullptr) {
        stand_in_for_one_that_never_came();
      } else if (cell_.start == Start::sequential) {
        join();
      } else {
        threads.push_back(std::move(join));
      }
    }
    const bool leaves = cell_.end == End::exit && problem.empty();
    if (leaves) {
      done_.wait();
    } else {
      for (const JoinThread& join : threads) join();
    }
    ended_.store(true);
    if (beside != nullptr) beside();
    if (!problem.empty()) throw SetupError(problem);
    return operations_.load();
  }

 private:
  /// The others wait for everybody.
  void stand_in_for_one_that_never_came() {
    barrier_.arrive();
    meeting_.leave();
  }

  void run_thread(int thread) {
    const auto slot = static_cast<uint32_t>(thread);
    const CrashContext context(slot);
    std::optional<Meeting::Stages> stages;
    if (cell_.meet == Meet::stage) stages.emplace(meeting_);
    recorder_.begin_thread(slot, lanes_[slot] ? lanes_[slot]->operation() : cell_.op);
    int iteration = -1;
    bool done = false;
    bool arrived = in_turn(cell_);
    try {
      if (lanes_[slot] == nullptr) lanes_[slot] = workload_.make_lane(thread);
      Lane& lane = *lanes_[slot];
      lane.enter();
      recorder_.at(slot, 0, Step::waiting);
      if (!arrived) barrier_.arrive_and_wait();
      arrived = true;
      if (cell_.start == Start::staggered) {
        std::this_thread::sleep_for(std::chrono::milliseconds(thread));
      }
      for (int i = 0; i < iterations_ && !called_off_.load(std::memory_order_relaxed); ++i) {
        iteration = first_iteration_ + i;
        run_iteration(lane, recorder_, slot, iteration);
      }
      if (cell_.sync == Sync::end && iteration >= 0) {
        recorder_.at(slot, static_cast<uint32_t>(iteration), Step::synchronising);
        lane.synchronise();
      }
      if (cell_.end == End::exit && !called_off_.load()) {
        done = true;
        done_.count_down();
        go_on(lane, slot, iteration);
      }
    } catch (...) {
      report(thread, iteration, lanes_[slot] ? lanes_[slot]->operation() : cell_.op);
      if (!arrived) barrier_.arrive_and_wait();  // the others wait for everybody
    }
    meeting_.leave();
    if (lanes_[slot] != nullptr) lanes_[slot]->leave();
    recorder_.at(slot, static_cast<uint32_t>(std::max(iteration, 0)), Step::finished);
    if (!done) done_.count_down();
  }

  /// The exception in flight, which ends what a thread does.
  void report(int thread, int iteration, const std::string& operation) {
    FailureEvent failure;
    failure.kind = kind_of_current_exception(failure.text);
    failure.phase = name_of(recorder_.phase());
    failure.thread = thread;
    failure.iteration = iteration;
    failure.operation = operation;
    on_failure_(failure);
  }

  /// Waits for the device, or what `beside` says, again and again, until the threads have ended.
  /// From before they start: the first to be there is as likely to be this one.
  void wait_beside() {
    const auto slot = static_cast<uint32_t>(cell_.threads);
    const CrashContext context(slot);
    const std::string operation = "beside=" + axis_named("beside").read(cell_);
    recorder_.begin_thread(slot, operation);
    uint32_t waits = 0;
    // Noted once: a thread that always gets on would hide that the others do not. So would its
    // computing, once they stand still.
    constexpr int kWaitsWithoutProgress = 100'000;
    recorder_.at(slot, 0, Step::synchronising);
    uint64_t seen = 0;
    int still = 0;
    try {
      for (; !ended_.load(std::memory_order_relaxed); ++waits) {
        workload_.wait_beside();
        const uint64_t progress = read_progress(*recorder_.block());
        still = progress == std::exchange(seen, progress) ? still + 1 : 0;
        if (still > kWaitsWithoutProgress) {
          still = kWaitsWithoutProgress;
          std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        std::this_thread::yield();
      }
    } catch (...) {
      report(cell_.threads, static_cast<int>(waits), operation);
    }
    recorder_.at(slot, waits, Step::finished);
  }

  /// The iterations again and again, until the process has ended. They are noted in a recorder that
  /// nobody reads: a process that gets stuck on its way out makes no progress, whatever its threads
  /// still do.
  [[noreturn]] void go_on(Lane& lane, uint32_t slot, int iteration) {
    recorder_.at(slot, static_cast<uint32_t>(iteration), Step::launching);
    auto* const unread = new recorder_layout::Block;  // as long as the thread
    FlightRecorder recorder(unread);
    for (;;) {
      for (int i = 0; i < iterations_; ++i) {
        run_iteration(lane, recorder, slot, first_iteration_ + i);
      }
      if (cell_.sync == Sync::end) lane.synchronise();
    }
  }

  void run_iteration(Lane& lane, FlightRecorder& recorder, uint32_t slot, int iteration) {
    const auto number = static_cast<uint32_t>(iteration);
    if (cell_.lock == Lock::forward) {
      recorder.at(slot, number, Step::locking);
      const std::lock_guard<std::mutex> lock(forward_mutex_);
      launch(lane, recorder, slot, number);
    } else if (cell_.throttle < cell_.threads) {
      recorder.at(slot, number, Step::locking);
      const Turn turn(turns_);
      launch(lane, recorder, slot, number);
    } else {
      launch(lane, recorder, slot, number);
    }
    if (cell_.meet != Meet::none) {
      recorder.at(slot, number, Step::waiting);
      meeting_.wait();
    }
    if (cell_.sync == Sync::each) {
      recorder.at(slot, number, Step::synchronising);
      lane.synchronise();
    }
    operations_.fetch_add(1, std::memory_order_relaxed);
  }

  void launch(Lane& lane, FlightRecorder& recorder, uint32_t slot, uint32_t iteration) {
    const LaunchScope scope(recorder, slot, iteration);
    const InsideClock clock(inside_);
    lane.launch(static_cast<int>(iteration));
  }

  const Cell& cell_;
  int first_iteration_;
  int iterations_;
  Workload& workload_;
  std::vector<std::unique_ptr<Lane>>& lanes_;
  FlightRecorder& recorder_;
  std::function<void(const FailureEvent&)> on_failure_;
  StartThread start_;
  InsideTime* inside_;
  SpinBarrier barrier_;
  Meeting meeting_;
  std::mutex forward_mutex_;
  Turns turns_;
  std::latch done_;  // with their iterations, of end=exit
  std::atomic<uint64_t> operations_{0};
  std::atomic<bool> called_off_{false};
  std::atomic<bool> ended_{false};
};

}  // namespace

std::string kind_of_current_exception(std::string& text) {
  try {
    throw;
  } catch (const KnownError& error) {
    text = error.what();
    return error.kind();
  } catch (const std::bad_alloc& error) {
    text = error.what();
    return "out_of_memory";
  } catch (const std::exception& error) {
    text = error.what();
  } catch (...) {
    text = "an exception that is no std::exception";
  }
  return "exception";
}

RunTally run_threads(const Cell& cell, int iterations, Workload& workload,
                     std::vector<std::unique_ptr<Lane>>& lanes, FlightRecorder& recorder,
                     const std::function<void(const FailureEvent&)>& on_failure,
                     const StartThread& start, bool times_launches) {
  RunTally tally;
  const Clock::time_point began = Clock::now();
  const int64_t cpu_began = nanoseconds_of(CLOCK_PROCESS_CPUTIME_ID);
  if (cell.end == End::exit) {
    // Never freed: its threads go on until the process has ended.
    auto* const threads =
        new Round(cell, 0, iterations, workload, lanes, recorder, on_failure, start, nullptr);
    tally.operations = threads->run();
    tally.seconds = std::chrono::duration<double>(Clock::now() - began).count();
    return tally;
  }
  InsideTime inside;
  for (int round = 0; round < cell.churn; ++round) {
    Round threads(cell, round * iterations, iterations, workload, lanes, recorder, on_failure,
                  start, times_launches ? &inside : nullptr);
    tally.operations += threads.run();
  }
  tally.seconds = std::chrono::duration<double>(Clock::now() - began).count();
  if (times_launches) {
    tally.inside_seconds = 1e-9 * static_cast<double>(inside.nanoseconds);
    tally.inside_cpu_seconds = 1e-9 * static_cast<double>(inside.cpu_nanoseconds);
    tally.cpu_seconds =
        1e-9 * static_cast<double>(nanoseconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu_began);
  }
  return tally;
}

}  // namespace mpsprobe
