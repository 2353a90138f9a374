#include "harness/text/first_words.h"

#include <gtest/gtest.h>

namespace mpsprobe {
namespace {

TEST(FirstWords, EndAtTheSixthThatNamesSomething) {
  EXPECT_EQ(first_words("the lane of the pool must not be taken by a thread that ended here"),
            "the lane of the pool must not be taken by a thread that ended");
  // Neither "Error:" nor "(N)", "<" and "&&" name anything.
  EXPECT_EQ(first_words("[Pool take] Error: lane (N) < N && not taken from the device of the day"),
            "[Pool take] Error: lane (N) < N && not taken from the device");
  EXPECT_EQ(first_words("one two three four five six"), "one two three four five six");
  EXPECT_EQ(first_words("one two three four five six of the"), "one two three four five six");
  EXPECT_EQ(first_words(""), "");
}

}  // namespace
}  // namespace mpsprobe
