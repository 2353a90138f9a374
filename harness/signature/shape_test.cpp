#include "harness/signature/shape.h"

#include <gtest/gtest.h>

#include <string>

namespace mpsprobe {
namespace {

// What the parentheses hold, "<none>" where the shape does not match at the text's begin.
std::string inner(std::string_view shape, std::string_view text) {
  const auto match = match_shape(shape, text, 0);
  if (!match) return "<none>";
  return std::string(text.substr(match->inner_begin, match->inner_end - match->inner_begin));
}

TEST(MatchShape, TakesClassesSetsAndQuantities) {
  EXPECT_EQ(inner("%d+", "128 lanes"), "128");
  EXPECT_EQ(inner("[%w_.]*%.so", "libpool.3.so.1"), "libpool.3.so");
  EXPECT_EQ(inner("[^:\n]-: (.+)", "a: b: c\nd"), "b: c");
  EXPECT_EQ(inner("a%A-(d.)", "abc\n\nde"), "de");
  EXPECT_EQ(inner("-?%d", "-7"), "-7");
  EXPECT_EQ(inner("%-?%d", "7"), "7");
  EXPECT_EQ(inner("%x%x%u%l%s%S", "f0Aa b"), "f0Aa b");
  EXPECT_EQ(inner(".-x$", "abx\nx"), "abx");
  EXPECT_EQ(inner("a", "b"), "<none>");
}

TEST(MatchShape, TakesWordsAndBrackets) {
  EXPECT_EQ(inner("{cpu|cuda}%e", "cuda:1"), "cuda");
  EXPECT_EQ(inner("{cpu|cuda}%e", "cuda_pool"), "<none>");
  EXPECT_EQ(inner("{cpu|cuda}%e", "cpu.lane"), "<none>");
  EXPECT_EQ(inner("{torch.}?(%l+)", "torch.half"), "half");
  EXPECT_EQ(inner("{torch.}?(%l+)", "half"), "half");
  EXPECT_EQ(inner("%b<>", "<a<b>, c> d"), "<a<b>, c>");
  EXPECT_EQ(inner("%b<>", "<a<b>"), "<none>");
  EXPECT_EQ(inner("{!Seg|Abort}.+", "Segmentation"), "<none>");
  EXPECT_EQ(inner("{!Seg|Abort}.+", "Bus"), "Bus");
  EXPECT_EQ(inner("'(%A-)'{\n|$}", "'it's done'\nx"), "it's done");
  EXPECT_EQ(inner(".-%f(%d+)", "a1 12"), "12");
}

TEST(MatchShape, GivesUpOnWhatNeedsTooMuch) {
  const std::string text(1 << 16, 'a');
  EXPECT_FALSE(match_shape(".*.*.*.*b", text, 0));
  EXPECT_FALSE(match_shape("%A-b", text + "b", 0));
  EXPECT_TRUE(match_shape("a*", text, 0));
}

}  // namespace
}  // namespace mpsprobe
