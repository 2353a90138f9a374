#include "harness/input/near_name.h"

#include <gtest/gtest.h>

#include <array>

#include "harness/wire/axis.h"

namespace mpsprobe {
namespace {

constexpr std::array<std::string_view, 8> kCommands{"run",   "list",     "doctor", "report",
                                                    "repro", "feedback", "verify", "help"};

TEST(NearName, IsTheOneThatWasMeant) {
  const std::array<std::pair<std::string_view, std::string_view>, 14> typed{
      {{"rn", "run"},
       {"urn", "run"},
       {"runn", "run"},
       {"RUN", "run"},
       {"lst", "list"},
       {"docter", "doctor"},
       {"reprot", "report"},
       {"reppro", "repro"},
       {"fedback", "feedback"},
       {"feedbakc", "feedback"},
       {"verfy", "verify"},
       {"verifiy", "verify"},
       {"hlep", "help"},
       {"doc", "doctor"}}};
  for (const auto& [word, meant] : typed) EXPECT_EQ(nearest_name(word, kCommands), meant) << word;
}

TEST(NearName, OfWhatIsNearNothingIsNothing) {
  for (std::string_view word : {"", "x", "frobnicate", "12345"}) {
    EXPECT_EQ(nearest_name(word, kCommands), "") << word;
  }
  EXPECT_EQ(did_you_mean("frobnicate", kCommands), "");
  EXPECT_EQ(did_you_mean("rn", kCommands), "; did you mean \"run\"?");
}

// Each axis, mistyped in four ways: a letter left out, doubled, swapped, replaced.
TEST(NearName, OfAnAxisIsTheAxis) {
  std::vector<std::string_view> names;
  for (const Axis& axis : axes()) names.push_back(axis.name);
  int right = 0;
  int all = 0;
  for (std::string_view name : names) {
    if (name.size() < 4) continue;
    const std::string whole(name);
    std::string swapped = whole;
    std::swap(swapped[1], swapped[2]);
    const std::string replaced = whole.substr(0, 2) + "x" + whole.substr(3);
    for (const std::string& typed :
         {whole.substr(0, 2) + whole.substr(3), whole.substr(0, 2) + whole[1] + whole.substr(2),
          swapped, replaced}) {
      ++all;
      right += nearest_name(typed, names) == name ? 1 : 0;
    }
  }
  EXPECT_GE(all, 60);
  EXPECT_GE(right * 60, all * 55) << right << " of " << all;
}

}  // namespace
}  // namespace mpsprobe
