#include "reports/analysis/trial_facts.h"

#include <gtest/gtest.h>

namespace mpsprobe {
namespace {

void add(TrialFactsList& trials, const char* started, double seconds) {
  TrialRecord trial;
  trial.started = started;
  trial.seconds = seconds;
  trials.add(trial);
}

TEST(BusySeconds, CountTrialsSideBySideOnce) {
  TrialFactsList trials;
  add(trials, "2026-01-31T12:00:00.000Z", 4);
  add(trials, "2026-01-31T12:00:02.500Z", 4);
  add(trials, "2026-01-31T12:00:01.000Z", 1);
  EXPECT_DOUBLE_EQ(trials.busy_seconds(), 6.5);
}

TEST(BusySeconds, LeaveOutThePauseBeforeARunGoesOn) {
  TrialFactsList trials;
  add(trials, "2026-01-31T23:59:59.000Z", 2);
  add(trials, "2026-02-03T10:00:00.000Z", 3);
  EXPECT_DOUBLE_EQ(trials.busy_seconds(), 5);
}

TEST(BusySeconds, CloseAGapWithWhatRanAcrossIt) {
  TrialFactsList trials;
  add(trials, "2026-01-31T12:00:00.000Z", 1);
  add(trials, "2026-01-31T12:00:02.000Z", 1);
  add(trials, "2026-01-31T12:00:00.500Z", 2);
  EXPECT_DOUBLE_EQ(trials.busy_seconds(), 3);
}

TEST(BusySeconds, LeaveOutWhatIsNoTime) {
  TrialFactsList trials;
  for (const char* started : {"", "yesterday", "2026-13-01T00:00:00Z", "2026-01-31T12:00:nan"}) {
    add(trials, started, 1);
  }
  add(trials, "2026-01-31T12:00:00.000Z", -1);
  EXPECT_EQ(trials.busy_seconds(), 0);
}

}  // namespace
}  // namespace mpsprobe
