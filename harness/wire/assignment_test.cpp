#include "harness/wire/assignment.h"

#include <gtest/gtest.h>

namespace mpsprobe {
namespace {

TEST(Assignment, IsOneLineThatSaysTheSameAgain) {
  const Assignment given{"cpu/mm/default/threads=2/env.A=\"q\" b", 3, 7, 18446744073709551615U};
  const std::string line = to_line(given);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_EQ(parse_assignment(line), given);
  EXPECT_NE(line.find("\"trial\":0"), line.npos) << "workers of earlier releases want it";
}

TEST(Assignment, IsRefusedWhereSomethingIsMissingOrOfAnotherType) {
  EXPECT_FALSE(parse_assignment("").has_value());
  EXPECT_FALSE(parse_assignment("\x01").has_value());
  EXPECT_FALSE(parse_assignment("[]").has_value());
  EXPECT_FALSE(parse_assignment(R"({"cell": 1, "process": 0, "iteration": 0, "seed": 1})"));
  EXPECT_FALSE(parse_assignment(R"({"cell": "a", "process": 0, "iteration": 0})"));
  EXPECT_FALSE(parse_assignment(R"({"cell": "a", "process": -1, "iteration": 0, "seed": 1})"));
}

}  // namespace
}  // namespace mpsprobe
