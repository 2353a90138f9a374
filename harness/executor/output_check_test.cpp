#include "harness/executor/output_check.h"

#include <gtest/gtest.h>

namespace mpsprobe {
namespace {

TEST(OutputCheck, NumbersMayDifferALittleAndWordsMayNot) {
  EXPECT_EQ(difference("loss 1.0000 ok\n", "loss   1.00005 ok"), "");
  EXPECT_EQ(difference("[1.0, 2.0]", "[1.00001, 2.0001]"), "");
  EXPECT_EQ(difference("1.0, 2.0", "1.00001, 2.0001"), "");
  EXPECT_EQ(difference("a\nb 1\n", "a\nb 2\n"), "line 2: expected \"1\", got \"2\"");
  EXPECT_EQ(difference("a b", "a"), "line 1: expected \"b\", got nothing");
  EXPECT_EQ(difference("", ""), "");
}

TEST(OutputCheck, AsksForTheOutputOfOneThreadOnceACell) {
  OutputCheck check(OwnCommand{{"tool", "{threads}"}, "/", "same", {}});
  int runs = 0;
  const auto alone = [&runs] {
    ++runs;
    ProcessRecord record;
    record.termination = Exited{0};
    record.out.head = "12\n";
    return record;
  };
  const auto failures_of = [&](const char* cell, const char* output) {
    ProcessRecord process;
    process.own_command = true;
    process.termination = Exited{0};
    process.out.head = output;
    check.look_at(process, parse_cell(cell), 1, alone);
    return process.failures.size();
  };
  EXPECT_EQ(failures_of("command/tool/default/threads=1", "12"), 0U);
  EXPECT_EQ(failures_of("command/tool/default/threads=4", "13"), 1U);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(failures_of("command/tool/default/threads=4/env.batch=8", "12"), 0U);
  EXPECT_EQ(runs, 2) << "another parameter, another output";
}

TEST(OutputCheck, WithoutAnOutputOfOneThreadNothingIsJudged) {
  OutputCheck check(OwnCommand{{"tool"}, "/", "same", {}});
  ProcessRecord process;
  process.own_command = true;
  process.termination = Exited{0};
  check.look_at(process, parse_cell("command/tool/default/threads=2"), 1, [] {
    ProcessRecord dead;
    dead.termination = Signaled{11};
    return dead;
  });
  ASSERT_EQ(process.failures.size(), 1U);
  EXPECT_EQ(process.failures[0].kind, "setup_failed");
}

}  // namespace
}  // namespace mpsprobe
