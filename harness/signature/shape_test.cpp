#include "harness/signature/shape.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace mpsprobe {
namespace {

// What the parentheses hold, "<none>" where the shape does not match at text[at].
std::string inner(const char* shape, const std::string& text, size_t at = 0) {
  const auto match = Shape(shape).match(text, at);
  return match ? text.substr(match->inner_begin, match->inner_end - match->inner_begin) : "<none>";
}

TEST(Shape, MatchesWhereItIsAskedTo) {
  EXPECT_EQ(inner("a: (.+)", "a: b\nc"), "b");
  EXPECT_EQ(inner("a.*?(b|$)", "ac\nb"), "");
  EXPECT_EQ(inner("\\d+", "128 lanes"), "128");
  EXPECT_EQ(inner("lane", "no lane"), "<none>");
  EXPECT_EQ(inner("lane", "no lane", 3), "lane");
  EXPECT_EQ(inner("(?<!\\w)lane", "no_lane", 3), "<none>");
  EXPECT_EQ(inner("x*", "lane", 4), "");
  EXPECT_EQ(inner("(?i)lane", "LANE"), "LANE");
  EXPECT_THROW(Shape("lane("), std::invalid_argument);
}

TEST(Shape, GivesUpOnWhatNeedsTooMuch) {
  const std::string text(1 << 16, 'a');
  EXPECT_FALSE(Shape(".*.*.*.*b").match(text, 0));
  EXPECT_FALSE(Shape("(a|aa)+b").match(text, 0));
  EXPECT_FALSE(Shape("(?s:.)*?b").match(text + "b", 0));
  EXPECT_TRUE(Shape("a*").match(text, 0));
}

}  // namespace
}  // namespace mpsprobe
