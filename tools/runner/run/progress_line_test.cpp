#include "tools/runner/run/progress_line.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace mpsprobe {
namespace {

TEST(ProgressLine, PaintsTenTimesASecondAndTheEnd) {
  CampaignHeader header;
  ProgressLine line(header, true);
  TrialRecord trial;
  trial.judgement.outcome = Outcome::pass;
  testing::internal::CaptureStderr();
  for (size_t i = 1; i <= 100; ++i) {
    line.on_trial(trial, {i, 100, 0, static_cast<double>(i) / 100, i});
  }
  const std::string painted = testing::internal::GetCapturedStderr();
  const auto times = std::count(painted.begin(), painted.end(), '\r');
  EXPECT_GE(times, 9);
  EXPECT_LE(times, 12);
  EXPECT_NE(painted.find("100%  100 of 100 trials"), std::string::npos) << painted;
}

}  // namespace
}  // namespace mpsprobe
