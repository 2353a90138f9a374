#include "reports/analysis/busy_time.h"

#include <gtest/gtest.h>

namespace mpsprobe {
namespace {

TEST(BusyTime, CountsTrialsSideBySideOnce) {
  BusyTime busy;
  busy.add("2026-01-31T12:00:00.000Z", 4);
  busy.add("2026-01-31T12:00:02.500Z", 4);
  busy.add("2026-01-31T12:00:01.000Z", 1);
  EXPECT_DOUBLE_EQ(busy.seconds(), 6.5);
}

TEST(BusyTime, LeavesOutThePauseBeforeARunGoesOn) {
  BusyTime busy;
  busy.add("2026-01-31T23:59:59.000Z", 2);
  busy.add("2026-02-03T10:00:00.000Z", 3);
  EXPECT_DOUBLE_EQ(busy.seconds(), 5);
}

TEST(BusyTime, ClosesAGapWithWhatRanAcrossIt) {
  BusyTime busy;
  busy.add("2026-01-31T12:00:00.000Z", 1);
  busy.add("2026-01-31T12:00:02.000Z", 1);
  busy.add("2026-01-31T12:00:00.500Z", 2);
  EXPECT_DOUBLE_EQ(busy.seconds(), 3);
}

TEST(BusyTime, LeavesOutWhatIsNoTime) {
  BusyTime busy;
  for (const char* started : {"", "yesterday", "2026-13-01T00:00:00Z", "2026-01-31T12:00:nan"}) {
    busy.add(started, 1);
  }
  busy.add("2026-01-31T12:00:00.000Z", -1);
  EXPECT_EQ(busy.seconds(), 0);
}

}  // namespace
}  // namespace mpsprobe
