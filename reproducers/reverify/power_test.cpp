#include "reproducers/reverify/power.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/statistics/fisher.h"

namespace mpsprobe {
namespace {

/// The definition, tried for one n after the other.
int by_definition(double rate, double level, double power) {
  for (int n = 1;; ++n) {
    int k = 1;
    while (k <= n && fisher_exact({k, n}, {0, n}) >= level) ++k;
    double below = 0;
    for (int x = 0; x < k; ++x) {
      below += std::exp(std::lgamma(n + 1) - std::lgamma(x + 1) - std::lgamma(n - x + 1) +
                        x * std::log(rate) + (n - x) * std::log1p(-rate));
    }
    if (k <= n && 1 - below >= power) return n;
  }
}

TEST(TrialsForPower, AreTheFewestByTheDefinition) {
  for (double rate : {0.02, 0.04, 0.1, 0.3, 0.5, 0.9}) {
    for (double level : {0.05, 0.01, 0.05 / 7}) {
      for (double power : {0.6, 0.9}) {
        EXPECT_EQ(trials_for_power(rate, level, power), by_definition(rate, level, power))
            << rate << " " << level << " " << power;
      }
    }
  }
}

TEST(TrialsForPower, AFailureEachTimeTakesFour) {
  EXPECT_EQ(trials_for_power(1, 0.05), 4);  // 4 of 4 against 0 of 4: p = 2/70
}

TEST(TrialsForPower, WhatTakesForeverIsNothing) {
  EXPECT_EQ(trials_for_power(0, 0.05), std::nullopt);
  EXPECT_EQ(trials_for_power(-1, 0.05), std::nullopt);
  EXPECT_EQ(trials_for_power(std::nan(""), 0.05), std::nullopt);
  EXPECT_EQ(trials_for_power(0.5, 0), std::nullopt);
  EXPECT_EQ(trials_for_power(0.5, 0.05, 1), std::nullopt);
  EXPECT_EQ(trials_for_power(1e-9, 0.05), std::nullopt);
  EXPECT_GT(trials_for_power(1e-5, 0.05).value(), 600'000);
  EXPECT_TRUE(trials_for_power(0.5, 1e-40).has_value());
}

}  // namespace
}  // namespace mpsprobe
