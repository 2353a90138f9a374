#include "scenarios/threads/threads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "scenarios/threads/meeting.h"
#include "scenarios/worker/workload.h"

namespace mpsprobe {
namespace {

/// What one thread did, in order: 'l' for a launch, 's' for a wait.
class NotingLane : public Lane {
 public:
  explicit NotingLane(std::string& notes) : notes_(notes) {}
  std::string operation() const override { return "noting"; }
  void launch(int) override { notes_ += 'l'; }
  void synchronise() override { notes_ += 's'; }
  CheckResult check() override { return {}; }

 private:
  std::string& notes_;
};

class NotingWorkload : public Workload {
 public:
  explicit NotingWorkload(size_t threads) : notes_(threads) {}
  void touch_device() override {}
  std::unique_ptr<Lane> make_lane(int thread) override {
    return std::make_unique<NotingLane>(notes_[static_cast<size_t>(thread)]);
  }
  void settle() override {}
  void wait_beside() override { ++waits_beside_; }
  std::string observed_path() override { return ""; }

  std::vector<std::string> notes_;
  std::atomic<int> waits_beside_ = 0;
};

void run_cell(const Cell& cell, Workload& workload,
              const std::function<void(const FailureEvent&)>& on_failure) {
  std::vector<std::unique_ptr<Lane>> lanes(static_cast<size_t>(cell.threads));
  const auto block = std::make_unique<recorder_layout::Block>();
  FlightRecorder recorder(block.get());
  run_threads(cell, cell.iterations, workload, lanes, recorder, on_failure,
              system_threads(static_cast<size_t>(cell.stack)));
}

std::vector<std::string> notes_of(const std::string& text) {
  const Cell cell = parse_cell(text);
  NotingWorkload workload(static_cast<size_t>(cell.threads));
  run_cell(cell, workload, [](const FailureEvent& failure) { ADD_FAILURE() << failure.text; });
  return workload.notes_;
}

TEST(Threads, WaitAfterEachLaunchOrAtTheEnd) {
  EXPECT_THAT(notes_of("cpu/add/default/threads=1/iterations=2"), testing::Each("lsls"));
  EXPECT_THAT(notes_of("cpu/add/default/threads=1/iterations=2/sync=end"), testing::Each("lls"));
}

TEST(Threads, OfTheMainThreadAloneNoneIsStarted) {
  const Cell cell = parse_cell("cpu/add/default/threads=2/iterations=2/start=main");
  NotingWorkload workload(2);
  std::vector<std::unique_ptr<Lane>> lanes(2);
  const auto block = std::make_unique<recorder_layout::Block>();
  FlightRecorder recorder(block.get());
  const RunTally tally = run_threads(
      cell, cell.iterations, workload, lanes, recorder,
      [](const FailureEvent& failure) { ADD_FAILURE() << failure.text; },
      [](uint32_t, const std::function<void()>&) -> JoinThread {
        ADD_FAILURE() << "a thread is started";
        return [] {};
      });
  EXPECT_EQ(tally.operations, 4);
  EXPECT_THAT(workload.notes_, testing::ElementsAre("lsls", "lsls"));
}

/// Bytes of the stack that the calling thread has.
size_t own_stack() {
#ifdef __APPLE__
  return pthread_get_stacksize_np(pthread_self());
#else
  pthread_attr_t attributes;
  size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  pthread_attr_getstacksize(&attributes, &bytes);
  pthread_attr_destroy(&attributes);
  return bytes;
#endif
}

class StackWorkload : public NotingWorkload {
 public:
  explicit StackWorkload(size_t threads) : NotingWorkload(threads), stacks_(threads) {}
  std::unique_ptr<Lane> make_lane(int thread) override {
    class StackLane : public NotingLane {
     public:
      StackLane(std::string& notes, size_t& stack) : NotingLane(notes), stack_(stack) {}
      void launch(int) override { stack_ = own_stack(); }

     private:
      size_t& stack_;
    };
    const auto slot = static_cast<size_t>(thread);
    return std::make_unique<StackLane>(notes_[slot], stacks_[slot]);
  }
  std::vector<size_t> stacks_;
};

TEST(Threads, HaveTheStackThatTheCellSays) {
  const auto stacks = [](const std::string& text) {
    const Cell cell = parse_cell(text);
    StackWorkload workload(static_cast<size_t>(cell.threads));
    run_cell(cell, workload, [](const FailureEvent& failure) { ADD_FAILURE() << failure.text; });
    return workload.stacks_;
  };
  // A system may round up, and count a guard.
  constexpr size_t kRounding = size_t{64} << 10;
  const auto about = [](size_t bytes) {
    return testing::Each(
        testing::AllOf(testing::Ge(bytes - kRounding), testing::Le(bytes + kRounding)));
  };
  // From the smallest to the largest: glibc gives a thread the stack of one that has ended, where
  // that is not too small.
  EXPECT_THAT(stacks("cpu/add/default/threads=2/stack=1048576"), about(size_t{1} << 20));
  EXPECT_GT(default_thread_stack(), size_t{256} << 10);
  EXPECT_THAT(stacks("cpu/add/default/threads=2"), about(default_thread_stack()));
  EXPECT_THAT(stacks("cpu/add/default/threads=2/stack=67108864"), about(size_t{64} << 20));
}

/// Whoever waits notes how many had launched by then in that iteration; one thread may fail.
class MeetingWorkload : public NotingWorkload {
 public:
  MeetingWorkload(size_t threads, int failing)
      : NotingWorkload(threads), failing_(failing), launched_(kIterations) {}

  std::unique_ptr<Lane> make_lane(int thread) override {
    class MeetingLane : public NotingLane {
     public:
      MeetingLane(MeetingWorkload& all, int thread)
          : NotingLane(all.notes_[static_cast<size_t>(thread)]), all_(all), thread_(thread) {}
      void launch(int iteration) override {
        iteration_ = static_cast<size_t>(iteration);
        if (thread_ == all_.failing_ && iteration == 1) throw GpuError("planted");
        ++all_.launched_[iteration_];
        end_of_stage();
        if (all_.launched_[iteration_] < all_.going_on(iteration_)) ++all_.early_stages_;
      }
      void synchronise() override {
        if (all_.launched_[iteration_] < all_.going_on(iteration_)) ++all_.early_waits_;
      }

     private:
      MeetingWorkload& all_;
      int thread_;
      size_t iteration_ = 0;
    };
    return std::make_unique<MeetingLane>(*this, thread);
  }
  int going_on(size_t iteration) const {
    return static_cast<int>(notes_.size()) - (failing_ >= 0 && iteration >= 1 ? 1 : 0);
  }

  static constexpr size_t kIterations = 50;
  int failing_;
  std::vector<std::atomic<int>> launched_;  ///< by iteration
  std::atomic<int> early_waits_ = 0;
  std::atomic<int> early_stages_ = 0;
};

TEST(Threads, MeetBeforeTheyWaitAndBetweenStages) {
  for (const char* meet : {"launch", "stage"}) {
    const Cell cell =
        parse_cell(std::string("cpu/add/default/threads=4/iterations=50/meet=") + meet);
    MeetingWorkload workload(4, -1);
    run_cell(cell, workload, [](const FailureEvent& failure) { ADD_FAILURE() << failure.text; });
    EXPECT_EQ(workload.early_waits_, 0) << meet;
    EXPECT_EQ(cell.meet == Meet::stage ? workload.early_stages_.load() : 0, 0);
  }
}

TEST(Threads, GoOnMeetingWithoutOneThatFailed) {
  for (const char* meet : {"launch", "stage"}) {
    const Cell cell =
        parse_cell(std::string("cpu/add/default/threads=4/iterations=50/meet=") + meet);
    MeetingWorkload workload(4, 2);
    int failures = 0;
    run_cell(cell, workload, [&](const FailureEvent&) { ++failures; });
    EXPECT_EQ(failures, 1);
    EXPECT_EQ(workload.launched_.back(), 3);
  }
}

TEST(Threads, OneMoreDoesItsPartBesideThemUntilTheyHaveEnded) {
  class WatchingWorkload : public NotingWorkload {
   public:
    using NotingWorkload::NotingWorkload;
    std::unique_ptr<Lane> make_lane(int thread) override {
      class WatchingLane : public NotingLane {
       public:
        WatchingLane(std::string& notes, const std::atomic<int>& waits)
            : NotingLane(notes), waits_(waits) {}
        void launch(int) override {
          for (const int before = waits_; waits_ == before;) std::this_thread::yield();
        }

       private:
        const std::atomic<int>& waits_;
      };
      return std::make_unique<WatchingLane>(notes_[static_cast<size_t>(thread)], waits_beside_);
    }
  };
  const Cell cell = parse_cell("cpu/add/default/threads=2/iterations=10/beside=cache");
  WatchingWorkload workload(2);
  run_cell(cell, workload, [](const FailureEvent& failure) { ADD_FAILURE() << failure.text; });
  EXPECT_GE(workload.waits_beside_, 10);
}

}  // namespace
}  // namespace mpsprobe
