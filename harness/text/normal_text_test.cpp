#include "harness/text/normal_text.h"

#include <gtest/gtest.h>

namespace mpsprobe {
namespace {

TEST(GoesOn, OnlyWhereAPageBrokeTheLine) {
  const std::string line = "the pool has run dry since every lane of the device was taken by";
  EXPECT_TRUE(goes_on(line, "another thread, which did not end"));
  EXPECT_FALSE(goes_on(line, "Another line"));
  EXPECT_FALSE(goes_on(line, "zsh: abort"));
  EXPECT_FALSE(goes_on(line, "python(12) malloc"));
  EXPECT_FALSE(goes_on(line, "lanes/pool.py"));
  EXPECT_FALSE(goes_on(line, "lane = pool.take()"));
  EXPECT_FALSE(goes_on(line, "(Lane 3)"));
  EXPECT_FALSE(goes_on(line, "frame #0"));
  EXPECT_FALSE(goes_on(line, "[t2] take"));
  EXPECT_FALSE(goes_on(line, "at take (lane.js:3:4)"));
  EXPECT_TRUE(goes_on(line, "at least two lanes"));
  EXPECT_TRUE(goes_on(line, "'lane.take()' in it"));
  EXPECT_TRUE(goes_on(line, "lane.is_free() is false"));
  EXPECT_FALSE(goes_on(line + ".", "another thread"));
  EXPECT_FALSE(goes_on("short", "another thread"));
  EXPECT_FALSE(goes_on("", ""));
}

}  // namespace
}  // namespace mpsprobe
