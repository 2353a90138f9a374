#include "scenarios/threads/threads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

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
  std::string observed_path() override { return ""; }

  std::vector<std::string> notes_;
};

std::vector<std::string> notes_of(const std::string& text) {
  const Cell cell = parse_cell(text);
  NotingWorkload workload(static_cast<size_t>(cell.threads));
  std::vector<std::unique_ptr<Lane>> lanes(static_cast<size_t>(cell.threads));
  const auto block = std::make_unique<recorder_layout::Block>();
  FlightRecorder recorder(block.get());
  run_threads(cell, cell.iterations, 1, workload, lanes, recorder,
              [](const FailureEvent& failure) { ADD_FAILURE() << failure.text; });
  return workload.notes_;
}

TEST(Threads, WaitEverySoManyLaunchesAndAtTheEnd) {
  EXPECT_THAT(notes_of("cpu/add/default/threads=2/iterations=7/every=3"),
              testing::Each("lllslllsls"));
  EXPECT_THAT(notes_of("cpu/add/default/threads=1/iterations=2"), testing::Each("lsls"));
  EXPECT_THAT(notes_of("cpu/add/default/threads=1/iterations=2/sync=end"), testing::Each("lls"));
}

TEST(Threads, GoThroughTheirIterationsAgainUntilTheirTimeIsOver) {
  for (const std::string& notes :
       notes_of("cpu/add/default/threads=2/iterations=2/every=2/seconds=1")) {
    EXPECT_GT(notes.size(), 3U);
    EXPECT_EQ(notes.size() % 3, 0U);
    EXPECT_TRUE(notes.ends_with("lls")) << notes.substr(notes.size() - 3);
  }
}

}  // namespace
}  // namespace mpsprobe
