#include "harness/statistics/fisher.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace mpsprobe {
namespace {

// The lady tasting tea: Fisher, "The Design of Experiments" (1935).
TEST(Fisher, TeaTasting) {
  EXPECT_NEAR(fisher_exact({3, 4}, {1, 4}), 34.0 / 70, 1e-12);
  EXPECT_NEAR(fisher_exact({4, 4}, {0, 4}), 2.0 / 70, 1e-12);
}

// Convictions of like-sex twins of criminals: Fisher, "Statistical Methods for Research Workers"
// (14th edition, 1970); two-sided as R's documentation of fisher.test gives it.
TEST(Fisher, ConvictionsOfTwins) {
  EXPECT_NEAR(fisher_exact({2, 17}, {10, 13}), 0.0005367, 5e-8);
}

TEST(Fisher, DoesNotDependOnTheOrderOfSides) {
  EXPECT_NEAR(fisher_exact({1, 10}, {11, 14}), 0.002759456, 5e-10);
  EXPECT_NEAR(fisher_exact({11, 14}, {1, 10}), 0.002759456, 5e-10);
  EXPECT_NEAR(fisher_exact({9, 10}, {3, 14}), 0.002759456, 5e-10);
}

TEST(Fisher, NearlyAllIsNotDifferentFromAll) {
  EXPECT_NEAR(fisher_exact({9, 10}, {10, 10}), 1, 1e-12);
  EXPECT_NEAR(fisher_exact({9, 10}, {20, 20}), 1.0 / 3, 1e-12);
}

TEST(Fisher, NothingToTellApartIsOne) {
  EXPECT_EQ(fisher_exact({0, 10}, {0, 20}), 1);
  EXPECT_EQ(fisher_exact({10, 10}, {20, 20}), 1);
  EXPECT_EQ(fisher_exact({0, 0}, {5, 10}), 1);
}

TEST(Fisher, ThousandsOfTrialsStayInRange) {
  const double far = fisher_exact({5000, 5000}, {0, 5000});
  EXPECT_GE(far, 0);
  EXPECT_LT(far, 1e-300);
  EXPECT_NEAR(fisher_exact({2500, 5000}, {2500, 5000}), 1, 1e-9);
}

TEST(Fisher, RefusesWhatIsNoCount) {
  EXPECT_THROW(fisher_exact({11, 10}, {0, 10}), std::invalid_argument);
  EXPECT_THROW(fisher_exact({1, 10}, {-1, 10}), std::invalid_argument);
}

TEST(Holm, CorrectsByRankAndNeverReorders) {
  const std::vector<double> corrected = holm_corrected({0.01, 0.04, 0.03, 0.005});
  EXPECT_NEAR(corrected[3], 0.02, 1e-12);
  EXPECT_NEAR(corrected[0], 0.03, 1e-12);
  EXPECT_NEAR(corrected[2], 0.06, 1e-12);
  EXPECT_NEAR(corrected[1], 0.06, 1e-12);  // 0.04 alone, but not below the one before it
  EXPECT_EQ(holm_corrected({0.9, 0.8})[0], 1);
  EXPECT_TRUE(holm_corrected({}).empty());
}

// The example of Benjamini and Hochberg's paper: 15 tests, four claims at 5%.
TEST(FalseDiscovery, ClaimsWhatThePaperClaims) {
  const std::vector<double> p{0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                              0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
  const std::vector<double> corrected = false_discovery_corrected(p);
  for (size_t i = 0; i < p.size(); ++i) EXPECT_EQ(corrected[i] < 0.05, i < 4) << i;
  EXPECT_NEAR(corrected[3], 0.0095 * 15 / 4, 1e-12);
  EXPECT_EQ(corrected[14], 1);
}

TEST(TrialsToTell, TwoRatesTakeMoreTheNearerTheyAre) {
  const auto far = trials_to_tell(0, 1, 0.05);
  const auto near = trials_to_tell(0.2, 0.3, 0.05);
  ASSERT_TRUE(far && near);
  EXPECT_LT(*far, 10);
  EXPECT_GT(*near, 300);
  EXPECT_LT(*near, 500);
  EXPECT_FALSE(trials_to_tell(0.5, 0.5, 0.05));
  EXPECT_FALSE(trials_to_tell(1e-7, 0, 0.05));
}

}  // namespace
}  // namespace mpsprobe
