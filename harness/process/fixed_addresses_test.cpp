#include "harness/process/fixed_addresses.h"

#include <gtest/gtest.h>

#ifdef __linux__
namespace mpsprobe {
namespace {

constexpr unsigned long kAsk = 0xffffffff;

TEST(FixedAddresses, AreThoseOfWhatIsStartedMeanwhile) {
  const int before = personality(kAsk);
  {
    const FixedAddresses fixed(false);
    EXPECT_EQ(personality(kAsk), before);
  }
  {
    const FixedAddresses fixed(true);
    const int now = personality(kAsk);
    if (now == before) GTEST_SKIP() << "forbidden here, or so already";
    EXPECT_EQ(now, before | ADDR_NO_RANDOMIZE);
  }
  EXPECT_EQ(personality(kAsk), before);
}

}  // namespace
}  // namespace mpsprobe
#endif
