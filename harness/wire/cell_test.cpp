#include "harness/wire/cell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "harness/input/input_error.h"
#include "harness/wire/axis.h"

namespace mpsprobe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Cell random_cell(std::mt19937& random) {
  Cell cell;
  for (const Axis& axis : axes()) {
    std::string value;
    switch (axis.kind) {
      case AxisKind::choice:
        value = axis.values[random() % axis.values.size()];
        break;
      case AxisKind::count:
        value = std::to_string(axis.minimum +
                               static_cast<int64_t>(random()) % (axis.maximum - axis.minimum + 1));
        break;
      case AxisKind::text: {
        const std::vector<std::string> samples =
            axis.name == "shape"   ? std::vector<std::string>{"default", "8x64x64", "1", "1024"}
            : axis.name == "dtype" ? std::vector<std::string>{"default", "float16", "int64"}
            : axis.name == "env" ? std::vector<std::string>{"inherited", "A=1", "A=1:2.x+B_2=unset"}
            : axis.name == "op"  ? std::vector<std::string>{"linear", "selftest.trap", "conv2d"}
                                 : std::vector<std::string>{"report-000", "clean", "hang"};
        value = samples[random() % samples.size()];
      }
    }
    set_axis(cell, axis, value);
  }
  return cell;
}

TEST(Cell, TextNamesOnlyWhatDiffersFromTheDefault) {
  Cell cell;
  cell.op = "linear";
  cell.path = Path::nograph;
  cell.threads = 3;
  EXPECT_EQ(to_string(cell), "sim/linear/nograph/threads=3");
  cell.stream = StreamUse::per_thread;
  cell.churn = 4;
  EXPECT_EQ(to_string(cell), "sim/linear/nograph/threads=3/stream=per-thread/churn=4");
}

TEST(Cell, EveryCellComesBackFromItsText) {
  std::mt19937 random(17);
  for (int i = 0; i < 5000; ++i) {
    const Cell cell = random_cell(random);
    const std::string text = to_string(cell);
    ASSERT_EQ(parse_cell(text), cell) << text;
    ASSERT_EQ(to_string(parse_cell(text)), text);
  }
}

TEST(Cell, TextNeedsNoQuotingInAShell) {
  std::mt19937 random(4);
  for (int i = 0; i < 1000; ++i) {
    const std::string text = to_string(random_cell(random));
    EXPECT_EQ(text.find_first_not_of(
                  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/=-_.:+"),
              std::string::npos)
        << text;
  }
}

TEST(Cell, OrderAndDefaultsInTheTextDoNotMatter) {
  EXPECT_EQ(parse_cell("cpu/mm/default/lock=none/churn=2/threads=4"),
            parse_cell("cpu/mm/default/threads=4/churn=2"));
}

struct BadText {
  std::string text;
  std::string names;  // what the message must contain
};

class BadCell : public testing::TestWithParam<BadText> {};

TEST_P(BadCell, IsRefusedNamingThePart) {
  try {
    parse_cell(GetParam().text);
    FAIL() << "accepted: " << GetParam().text;
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr(GetParam().names));
    EXPECT_FALSE(error.remedy().empty());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cell, BadCell,
    testing::Values(
        BadText{"", "backend"}, BadText{"sim/linear", "needed"},
        BadText{"gpu/linear/graph/threads=1", "backend"},
        BadText{"sim/Linear/graph/threads=1", "op"}, BadText{"sim/linear/grph/threads=1", "path"},
        BadText{"sim/linear/graph/threads=0", "threads"},
        BadText{"sim/linear/graph/threads=257", "threads"},
        BadText{"sim/linear/graph/throttle=0", "throttle"},
        BadText{"sim/linear/graph/stack=8m", "stack"},
        BadText{"sim/linear/graph/stack=1073741825", "stack"},
        BadText{"sim/linear/graph/thread=2", "did you mean \"threads\""},
        BadText{"sim/linear/graph/perturb=clock", "\"perturb\" is no axis of this release"},
        BadText{"sim/linear/graph/end=abort", "end"}, BadText{"sim/linear/graph/meet=end", "meet"},
        BadText{"sim/linear/graph/beside=launch", "beside"},
        BadText{"sim/linear/graph/threads=03", "threads"},
        BadText{"sim/linear/graph/threads=3x", "threads"},
        BadText{"sim/linear/graph/threads=1/threads=1", "twice"},
        BadText{"sim/linear/graph/colour=red", "\"colour\""},
        BadText{"sim/linear/graph/threads=1/shape=8x", "shape"},
        BadText{"sim/linear/graph/threads=1/shape=08", "shape"},
        BadText{"sim/linear/graph//threads=1", "part 4"},
        BadText{"sim/linear/graph/threads=99999999999999999999", "threads"},
        BadText{std::string(2000, 'a'), "1000"}, BadText{"sim/../default", "op"}));

TEST(Axis, MessagesShowNoTerminalEscape) {
  try {
    parse_cell("sim/\x1b[31mred/graph/threads=1");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()).find('\x1b'), std::string::npos);
  }
}

TEST(Axis, CountsTakeListsAndRanges) {
  const Axis& threads = *find_axis("threads");
  EXPECT_THAT(parse_axis_values(threads, "1,2,3-5,4"), ElementsAre("1", "2", "3", "4", "5"));
  EXPECT_THROW(parse_axis_values(threads, "5-3"), InputError);
  EXPECT_THROW(parse_axis_values(threads, "1,,2"), InputError);
  EXPECT_THROW(parse_axis_values(threads, ""), InputError);
  EXPECT_THROW(parse_axis_values(threads, "1-300"), InputError);
}

TEST(Axis, ChoicesMayHoldADash) {
  EXPECT_THAT(parse_axis_values(*find_axis("stream"), "per-thread,default"),
              ElementsAre("per-thread", "default"));
}

}  // namespace
}  // namespace mpsprobe
