#include "tools/signatures/pastes/log_prefix.h"

#include <gtest/gtest.h>

namespace mpsprobe {
namespace {

TEST(LogPrefix, IsWhatALoggerPutsInFront) {
  const auto rest = [](std::string_view line) { return line.substr(log_prefix_length(line)); };
  for (const char* prefix : {
           "2026-01-02T03:04:05.678Z ",
           "2026-01-02 03:04:05.678901+0100 lanes[12:3456] ",
           "2026-01-02 03:04:05.678 | ERROR    | lanes.pool:take:61 - ",
           "2026-01-02 03:04:05,678 - lanes.pool - ERROR - ",
           "2026-01-02T03:04:05.678901234Z stderr F ",
           "02/Jan/2026 03:04:05 lanes[1] ERR ",
           "2026/01/02 03:04:05 lanes-2 main E ",
           "26-01-02 03:04:05,678 [pool-3] E ",
           "Jan  2 03:04:05 host lanes[12]: ",
           "lanes-1  | ",
           "[rank0]: ",
           "(Worker pid=12) ",
           "[ERROR] ",
           "> > ",
           "- ",
           "E       ",
           "",
       }) {
    EXPECT_EQ(rest(std::string(prefix) + "the pool is dry"), "the pool is dry") << prefix;
  }
  // What messages begin with.
  for (const char* line : {"ERROR: the pool", "objc[12]: the pool", "lane[0] is", "length(4) must",
                           "12 lanes", "-[Lane take]:12: failed", "[lanes::take] the pool",
                           "libc++abi: the pool", "pool.cpp:12: gone"}) {
    EXPECT_EQ(log_prefix_length(line), 0U) << line;
  }
  EXPECT_EQ(rest("  \n2026-01-02 03:04:05 x"), "\n2026-01-02 03:04:05 x");
}

}  // namespace
}  // namespace mpsprobe
