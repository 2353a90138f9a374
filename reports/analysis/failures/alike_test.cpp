#include "reports/analysis/failures/alike.h"

#include <gtest/gtest.h>

namespace mpsprobe {
namespace {

TEST(MayBeOneBug, WhereTextsShareMostOfTheirWords) {
  const auto alike = [](const char* one, const char* other) {
    return may_be_one_bug(one, Basis::text, other, Basis::text);
  };
  EXPECT_TRUE(alike("no lane of the pool is left", "no lane of pool was left"));
  EXPECT_FALSE(alike("no lane of the pool is left", "no room for weights on it"));
  EXPECT_FALSE(alike("wrong result: linear", "wrong result: softmax"));
  EXPECT_FALSE(alike("no lane of the pool", "no lane of the pool"));
}

TEST(MayBeOneBug, WhereDeathsAreInOneFunction) {
  const auto alike = [](const char* one, const char* other, Basis basis) {
    return may_be_one_bug(one, basis, other, basis);
  };
  EXPECT_TRUE(alike("bad access in take", "trap in take, in tear-down", Basis::frames));
  EXPECT_FALSE(alike("bad access in take", "bad access in give", Basis::frames));
  EXPECT_FALSE(alike("bad access launching linear (no function known)",
                     "trap launching linear (no function known)", Basis::place));
}

}  // namespace
}  // namespace mpsprobe
