#include "harness/text/brackets.h"

#include <gtest/gtest.h>

namespace mpsprobe {
namespace {

TEST(LoneBrackets, AreLeftOutAtTheEnds) {
  EXPECT_EQ(without_lone_brackets("[a check of lanes] lane 3"), "a check of lanes: lane 3");
  EXPECT_EQ(without_lone_brackets("a check of lanes] lane 3"), "a check of lanes: lane 3");
  EXPECT_EQ(without_lone_brackets("(lane 3"), "lane 3");
  EXPECT_EQ(without_lone_brackets("lane 3]"), "lane 3");
  // Pairs, intervals, and Objective-C.
  for (const char* text :
       {"lane in (0, 3]", "[0, 3) has no lane", "[lane count] == 3", "(a) == (b)",
        "-[Lane take:] has no pool", "[take] no lane", "a) no lane", ""}) {
    EXPECT_EQ(without_lone_brackets(text), text);
  }
}

}  // namespace
}  // namespace mpsprobe
