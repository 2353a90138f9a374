#include "reports/claims/change_claim.h"

#include <gmock/gmock.h>

namespace mpsprobe {
namespace {

using testing::StartsWith;

const std::vector<std::string> kBuilds{"1.0", "1.1", "1.2", "1.3"};

TEST(ChangeClaim, NamesTheBuildAndNeverCallsItCertain) {
  const ChangePoint change =
      find_change(std::vector<Proportion>{{0, 900}, {0, 900}, {900, 900}, {900, 900}});
  EXPECT_EQ(change_in_words(change, kBuilds), "the failure began with 1.2 (99.9% sure)");
}

TEST(ChangeClaim, SaysWhatNoCulpritMeans) {
  const ChangePoint change =
      find_change(std::vector<Proportion>{{0, 100}, {0, 0}, {0, 0}, {0, 100}});
  EXPECT_THAT(change_in_words(change, kBuilds),
              testing::MatchesRegex("no change of the rate by 10 points or more among the builds "
                                    "tried .9.*% sure.; 2 of 4 builds were not tried, and may "
                                    "differ"));
}

TEST(ChangeClaim, NamesWhatIsLeft) {
  const ChangePoint change = find_change(std::vector<Proportion>{{0, 40}, {0, 0}, {20, 40}, {}});
  EXPECT_EQ(undecided_in_words(change, kBuilds, 0.95), "undecided: 1.1 or 1.2 (95% confidence)");
  EXPECT_EQ(undecided_in_words(find_change(std::vector<Proportion>(4)), kBuilds, 0.95),
            "undecided: one of no culprit, 1.1 to 1.3 (95% confidence)");
}

TEST(ChangeClaim, NothingIsEverCalledCertain) {
  EXPECT_EQ(sure_in_words(1), "99.9% sure");
}

}  // namespace
}  // namespace mpsprobe
