#include "scenarios/threads/threads.h"

#include <atomic>
#include <chrono>
#include <latch>
#include <mutex>
#include <semaphore>
#include <string>
#include <system_error>
#include <thread>

#include "scenarios/worker/crash_handler.h"
#include "scenarios/threads/perturbation.h"

namespace mpsprobe {
namespace {

using Clock = std::chrono::steady_clock;

/// All threads leave within a few nanoseconds of one another, which a wake-up by the kernel would
/// not give: the last one to arrive opens it and the others spin. They yield, for there may be
/// fewer cores than threads.
class SpinBarrier {
 public:
  explicit SpinBarrier(int threads) : missing_(threads) {}
  void arrive() { missing_.fetch_sub(1, std::memory_order_acq_rel); }
  void arrive_and_wait() {
    arrive();
    while (missing_.load(std::memory_order_acquire) > 0) std::this_thread::yield();
  }

 private:
  std::atomic<int> missing_;
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
  Round(const Cell& cell, uint64_t seed, int first_iteration, int iterations, Workload& workload,
        std::vector<std::unique_ptr<Lane>>& lanes, FlightRecorder& recorder,
        const std::function<void(const FailureEvent&)>& on_failure)
      : cell_(cell),
        first_iteration_(first_iteration),
        iterations_(iterations),
        workload_(workload),
        lanes_(lanes),
        recorder_(recorder),
        on_failure_(on_failure),
        barrier_(cell.start == Start::sequential ? 1 : cell.threads),
        turns_(cell.throttle),
        done_(cell.threads),
        perturbation_(cell.perturb, cell.threads, seed) {}

  /// Returns when the threads have been joined. With end=exit, once each has done its iterations or
  /// failed: those that have not failed go on until the process has ended, and so this object must
  /// live as long.
  uint64_t run() {
    std::vector<std::thread> threads;
    std::string problem;
    for (int thread = 0; thread < cell_.threads && problem.empty(); ++thread) {
      try {
        threads.emplace_back([this, thread] { run_thread(thread); });
        if (cell_.start == Start::sequential) threads.back().join();
      } catch (const std::system_error& error) {
        problem = "thread " + std::to_string(thread) + " cannot be started: " + error.what();
        called_off_.store(true);
        // The others wait at the barrier for those that never come.
        for (int missing = thread; missing < cell_.threads; ++missing) barrier_.arrive();
      }
    }
    const bool leaves = cell_.end == End::exit && problem.empty();
    if (leaves) done_.wait();
    for (std::thread& thread : threads) {
      if (leaves) {
        thread.detach();
      } else if (thread.joinable()) {
        thread.join();
      }
    }
    if (!problem.empty()) throw SetupError(problem);
    return operations_.load();
  }

 private:
  void run_thread(int thread) {
    const auto slot = static_cast<uint32_t>(thread);
    const CrashContext context(slot);
    const Perturbation::Attendance attendance(perturbation_, thread);
    recorder_.begin_thread(slot, lanes_[slot] ? lanes_[slot]->operation() : cell_.op);
    int iteration = -1;
    bool done = false;
    bool arrived = cell_.start == Start::sequential;
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
      const Clock::time_point end = Clock::now() + std::chrono::seconds(cell_.seconds);
      do {
        for (int i = 0; i < iterations_ && !called_off_.load(std::memory_order_relaxed); ++i) {
          iteration = first_iteration_ + i;
          run_iteration(lane, recorder_, slot, iteration, i);
        }
      } while (Clock::now() < end && !called_off_.load(std::memory_order_relaxed));
      if (cell_.sync == Sync::end) {
        recorder_.at(slot, static_cast<uint32_t>(iteration), Step::synchronising);
        lane.synchronise();
      }
      if (cell_.end == End::exit && !called_off_.load()) {
        done = true;
        done_.count_down();
        go_on(lane, slot, iteration);
      }
    } catch (...) {
      FailureEvent failure;
      failure.kind = kind_of_current_exception(failure.text);
      failure.phase = name_of(recorder_.phase());
      failure.thread = thread;
      failure.iteration = iteration;
      failure.operation = lanes_[slot] ? lanes_[slot]->operation() : cell_.op;
      on_failure_(failure);
      if (!arrived) barrier_.arrive_and_wait();  // the others wait for everybody
    }
    if (lanes_[slot] != nullptr) lanes_[slot]->leave();
    recorder_.at(slot, static_cast<uint32_t>(std::max(iteration, 0)), Step::finished);
    if (!done) done_.count_down();
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
        run_iteration(lane, recorder, slot, first_iteration_ + i, i);
      }
      if (cell_.sync == Sync::end) lane.synchronise();
    }
  }

  /// `nth` of this round, from 0.
  void run_iteration(Lane& lane, FlightRecorder& recorder, uint32_t slot, int iteration, int nth) {
    const auto number = static_cast<uint32_t>(iteration);
    perturbation_.before_launch();
    if (cell_.lock == Lock::forward) {
      recorder.at(slot, number, Step::locking);
      const std::lock_guard<std::mutex> lock(forward_mutex_);
      const LaunchScope scope(recorder, slot, number);
      lane.launch(iteration);
    } else if (cell_.throttle < cell_.threads) {
      recorder.at(slot, number, Step::locking);
      const Turn turn(turns_);
      const LaunchScope scope(recorder, slot, number);
      lane.launch(iteration);
    } else {
      const LaunchScope scope(recorder, slot, number);
      lane.launch(iteration);
    }
    const bool due = (nth + 1) % cell_.every == 0 || nth + 1 == iterations_;
    if (cell_.sync == Sync::each && due) {
      perturbation_.before_wait();
      recorder.at(slot, number, Step::synchronising);
      lane.synchronise();
    }
    operations_.fetch_add(1, std::memory_order_relaxed);
  }

  const Cell& cell_;
  int first_iteration_;
  int iterations_;
  Workload& workload_;
  std::vector<std::unique_ptr<Lane>>& lanes_;
  FlightRecorder& recorder_;
  std::function<void(const FailureEvent&)> on_failure_;
  SpinBarrier barrier_;
  std::mutex forward_mutex_;
  Turns turns_;
  std::latch done_;  // with their iterations, of end=exit
  Perturbation perturbation_;
  std::atomic<uint64_t> operations_{0};
  std::atomic<bool> called_off_{false};
};

}  // namespace

std::string kind_of_current_exception(std::string& text) {
  try {
    throw;
  } catch (const UnsupportedError& error) {
    text = error.what();
    return "unsupported";
  } catch (const SetupError& error) {
    text = error.what();
    return "setup_failed";
  } catch (const OutOfMemoryError& error) {
    text = error.what();
    return "out_of_memory";
  } catch (const GpuError& error) {
    text = error.what();
    return "gpu_error";
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

RunTally run_threads(const Cell& cell, int iterations, uint64_t seed, Workload& workload,
                     std::vector<std::unique_ptr<Lane>>& lanes, FlightRecorder& recorder,
                     const std::function<void(const FailureEvent&)>& on_failure) {
  RunTally tally;
  const Clock::time_point start = Clock::now();
  if (cell.end == End::exit) {
    // Never freed: its threads go on until the process has ended.
    auto* const threads =
        new Round(cell, seed, 0, iterations, workload, lanes, recorder, on_failure);
    tally.operations = threads->run();
    tally.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return tally;
  }
  for (int round = 0; round < cell.churn; ++round) {
    Round threads(cell, seed + static_cast<uint64_t>(round), round * iterations, iterations,
                  workload, lanes, recorder, on_failure);
    tally.operations += threads.run();
  }
  tally.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return tally;
}

}  // namespace mpsprobe
