#include "scenarios/worker/forked_child.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <functional>
#include <memory>

#include "harness/wire/event.h"

namespace mpsprobe {
namespace {

/// Does what a test says, in a forked child alone.
class LaneInAChild : public Lane {
 public:
  explicit LaneInAChild(std::function<void()> in_child) : in_child_(std::move(in_child)) {}
  std::string operation() const override { return "forking"; }
  void launch(int) override {
    if (getpid() != parent_) in_child_();
  }
  void synchronise() override {}
  CheckResult check() override { return {.checked = 1, .wrong_iteration = wrong_}; }

  int wrong_ = -1;

 private:
  const pid_t parent_ = getpid();
  std::function<void()> in_child_;
};

/// What the child told, a line for each event. The gate is a pipe whose other end stays open, as a
/// runner's.
std::string told_by_child(Lane& lane, ForkedChild child = ForkedChild::use) {
  int gate[2];
  int events[2];
  EXPECT_EQ(pipe(gate), 0);
  EXPECT_EQ(pipe(events), 0);
  const int saved = dup(kGateFd);
  EXPECT_EQ(dup2(gate[0], kGateFd), kGateFd);
  const auto block = std::make_unique<recorder_layout::Block>();
  FlightRecorder recorder(block.get());
  Channel channel(events[1]);
  run_forked_child(child, lane, 7, recorder, channel);
  saved >= 0 ? dup2(saved, kGateFd) : close(kGateFd);
  close(events[1]);
  std::string text;
  char bytes[4096];
  for (ssize_t got; (got = read(events[0], bytes, sizeof bytes)) > 0;) {
    text.append(bytes, static_cast<size_t>(got));
  }
  for (const int fd : {saved, gate[0], gate[1], events[0]}) {
    if (fd >= 0) close(fd);
  }
  return text;
}

TEST(ForkedChild, TellsNothingWhereAllIsWell) {
  LaneInAChild well([] {});
  EXPECT_EQ(told_by_child(well), "");
  LaneInAChild never_used([] { _exit(3); });
  EXPECT_EQ(told_by_child(never_used, ForkedChild::idle), "");
}

TEST(ForkedChild, TellsItsExceptionsAndWrongNumbers) {
  LaneInAChild throws([] { throw GpuError("not in this process"); });
  const std::string thrown = told_by_child(throws);
  EXPECT_THAT(thrown, testing::HasSubstr("\"gpu_error\""));
  EXPECT_THAT(thrown, testing::HasSubstr("not in this process"));
  LaneInAChild wrong([] {});
  wrong.wrong_ = 7;
  EXPECT_THAT(told_by_child(wrong), testing::HasSubstr("\"wrong_result\""));
}

TEST(ForkedChildDeathTest, EndsItsParentAsItEnded) {
  LaneInAChild leaves([] { _exit(3); });
  EXPECT_EXIT(told_by_child(leaves), testing::ExitedWithCode(3), "");
  LaneInAChild dies([] { raise(SIGSEGV); });
  EXPECT_EXIT(
      {
        signal(SIGSEGV, SIG_DFL);  // a sanitizer's handler would leave by a code of its own
        told_by_child(dies);
      },
      testing::KilledBySignal(SIGSEGV), "");
}

}  // namespace
}  // namespace mpsprobe
