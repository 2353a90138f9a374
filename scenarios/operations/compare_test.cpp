#include "scenarios/operations/compare.h"

#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace mpsprobe {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Compare, ResultsOffByTenTolerancesAreRefusedInEveryTypeAndHalfAToleranceIsNot) {
  for (const Rounding rounding :
       {Rounding::elementary, Rounding::transcendental, Rounding::accumulated}) {
    for (const at::ScalarType type : {at::kFloat, at::kHalf, at::kBFloat16}) {
      const at::Tensor expected = at::full({4}, 1.0, at::kDouble);
      const Tolerance allowed = tolerance(rounding, unit_of(type), 4);
      const double most = allowed.atol + allowed.rtol;
      ASSERT_GT(most, 0);
      EXPECT_NE(difference(expected.add(10 * most).to(type), expected, rounding, 4), "");
      EXPECT_NE(difference(expected.sub(10 * most).to(type), expected, rounding, 4), "");
      EXPECT_EQ(difference(expected.add(most / 2).to(type), expected, rounding, 4), "");
    }
  }
}

TEST(Compare, ToleranceGrowsWithTheTypeAndTheTermsAndIsNothingForIntegers) {
  const auto atol = [](Rounding rounding, at::ScalarType type, int64_t terms) {
    return tolerance(rounding, unit_of(type), terms).atol;
  };
  EXPECT_LT(atol(Rounding::accumulated, at::kFloat, 16),
            atol(Rounding::accumulated, at::kHalf, 16));
  EXPECT_DOUBLE_EQ(atol(Rounding::accumulated, at::kFloat, 64),
                   2 * atol(Rounding::accumulated, at::kFloat, 16));
  EXPECT_EQ(atol(Rounding::accumulated, at::kLong, 64), 0);
  EXPECT_EQ(atol(Rounding::exact, at::kFloat, 64), 0);
  // A foreign result of a layer is off by around one: that must never be within.
  EXPECT_LT(atol(Rounding::accumulated, at::kBFloat16, 1), 0.1);
}

TEST(Compare, DifferenceNamesIndexExpectedGotAndTolerance) {
  const at::Tensor expected = at::zeros({2, 3}, at::kDouble);
  const at::Tensor got = at::zeros({2, 3}, at::kFloat);
  got.index_put_({at::tensor(1), at::tensor(2)}, at::tensor(0.5f));
  EXPECT_THAT(difference(got, expected, Rounding::elementary, 1),
              AllOf(HasSubstr("index [1,2]"), HasSubstr("expected 0,"), HasSubstr("got 0.5"),
                    HasSubstr("tolerance: 4.77e-07"), HasSubstr("1 of 6 elements")));
}

TEST(Compare, NanEqualsNothingAndInfinityOnlyItself) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto equal = [](double got, double expected) {
    return difference(at::full({1}, got, at::kFloat), at::full({1}, expected, at::kDouble),
                      Rounding::transcendental, 1)
        .empty();
  };
  EXPECT_FALSE(equal(kNan, kNan));
  EXPECT_FALSE(equal(kNan, 1));
  EXPECT_FALSE(equal(1, kNan));
  EXPECT_TRUE(equal(kInfinity, kInfinity));
  EXPECT_FALSE(equal(-kInfinity, kInfinity));
  EXPECT_FALSE(equal(1, kInfinity));
  EXPECT_FALSE(equal(kInfinity, 1));
}

TEST(Compare, IntegersAndShapesAreComparedExactly) {
  const at::Tensor seven = at::full({2}, 7, at::kLong);
  EXPECT_EQ(difference(seven, at::full({2}, 7, at::kLong), Rounding::accumulated, 1), "");
  EXPECT_NE(difference(seven, at::full({2}, 8, at::kLong), Rounding::accumulated, 1), "");
  // Neighbours above 2^53 that a comparison as float64 would take for equal.
  const int64_t big = (int64_t{1} << 60) + 1;
  EXPECT_NE(difference(at::full({1}, big, at::kLong), at::full({1}, big - 1, at::kLong),
                       Rounding::exact, 1),
            "");
  EXPECT_THAT(difference(seven, at::full({3}, 7, at::kLong), Rounding::exact, 1),
              AllOf(HasSubstr("[3]"), HasSubstr("[2]")));
}

TEST(Compare, NormalSamplesAreAcceptedAndOthersAreNot) {
  Random random(11, 0);
  const at::Tensor good = random.normal({64, 64});
  EXPECT_EQ(difference_from_normal(good), "");
  EXPECT_EQ(difference_from_normal(good.to(at::kBFloat16)), "");
  EXPECT_EQ(difference_from_normal(random.normal({1})), "");
  EXPECT_THAT(difference_from_normal(at::zeros({64, 64})), HasSubstr("variance"));
  EXPECT_THAT(difference_from_normal(good.add(0.2)), HasSubstr("mean"));
  EXPECT_THAT(difference_from_normal(good.mul(1.3)), HasSubstr("variance"));
  at::Tensor broken = good.clone();
  broken.select(0, 3).select(0, 5).fill_(std::nan(""));
  EXPECT_THAT(difference_from_normal(broken), AllOf(HasSubstr("[3,5]"), HasSubstr("nan")));
  broken.select(0, 3).select(0, 5).fill_(1e6);
  EXPECT_THAT(difference_from_normal(broken), HasSubstr("[3,5]"));
}

TEST(Compare, LayoutIsShapeAndType) {
  const at::Tensor tensor = at::zeros({2, 3}, at::kHalf);
  EXPECT_EQ(difference_of_layout(tensor, {2, 3}, at::kHalf), "");
  EXPECT_THAT(difference_of_layout(tensor, {3, 2}, at::kHalf), HasSubstr("[3,2]"));
  EXPECT_THAT(difference_of_layout(tensor, {2, 3}, at::kFloat), HasSubstr("float32"));
}

}  // namespace
}  // namespace mpsprobe
