#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "harness/process/command.h"
#include "harness/record/process_record.h"

namespace mpsprobe {
namespace {

using nlohmann::json;
using testing::HasSubstr;

CommandResult observe(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {MPSPROBE_BINARY_DIR "/bin/mpsprobe", "observe"});
  return run_command(arguments, 240,
                     {std::string("PATH=") + std::getenv("PATH"), "ASAN_OPTIONS=handle_abort=0"});
}

TEST(ObserveCommand, AKeptRuleIsSaidWithTheNumberOfCalls) {
  const CommandResult kept = observe({"--", MPSPROBE_METAL_RULES, "keep", "second-encoder", "5"});
  EXPECT_EQ(kept.termination, Termination(Exited{0})) << kept.err;
  EXPECT_EQ(kept.out, "second-encoder: kept 5 of 5 times, results right\n");
  EXPECT_THAT(kept.err, testing::ContainsRegex(
                            "rules observed: [0-9]+ calls, none broken. The program ended with "
                            "exit code 0.\n$"));
}

TEST(ObserveCommand, ABrokenRuleIsFoundAndTheProgramsEndIsSaid) {
  const CommandResult broken = observe({"--", MPSPROBE_METAL_RULES, "break", "second-encoder"});
  EXPECT_EQ(broken.termination, Termination(Exited{1})) << broken.err;
  EXPECT_THAT(broken.err, HasSubstr("misuse: second-encoder: "));
  EXPECT_THAT(broken.err, HasSubstr("1 rule broken, see above. The program ended by signal 6"));
}

TEST(ObserveCommand, ASuspicionIsNoFailure) {
  const CommandResult suspected = observe({"--", MPSPROBE_HANDOVER, "atomic"});
  EXPECT_EQ(suspected.termination, Termination(Exited{0})) << suspected.err;
  EXPECT_THAT(suspected.err,
              HasSubstr("none broken, 1 suspicion. The program ended with exit code 0"));
}

TEST(ObserveCommand, JsonHasStandardOutputForItself) {
  const CommandResult broken =
      observe({"--json", "--", MPSPROBE_METAL_RULES, "break", "end-twice"});
  EXPECT_EQ(broken.termination, Termination(Exited{1})) << broken.err;
  const json read = json::parse(broken.out);
  EXPECT_EQ(read["proofs"], 1);
  EXPECT_EQ(read["end"]["signal"], 6);
  EXPECT_EQ(read["findings"][0]["rule"], "end-twice");
}

TEST(ObserveCommand, AProgramWithoutMetalWasNotObserved) {
  const CommandResult without = observe({"--", "true"});
  EXPECT_EQ(without.termination, Termination(Exited{4})) << without.err;
  EXPECT_THAT(without.err, HasSubstr("nothing was observed"));
}

TEST(ObserveCommand, WhatAProgramPutsInThePlaceOfTheReportHarmsNothing) {
  for (const char* act :
       {"rm -f \"$MPSPROBE_OBSERVER_REPORT\"; mkfifo \"$MPSPROBE_OBSERVER_REPORT\"",
        "head -c 3000000 /dev/zero | tr '\\0' '[' > \"$MPSPROBE_OBSERVER_REPORT\"",
        "ln -sf /dev/zero \"$MPSPROBE_OBSERVER_REPORT\""}) {
    const CommandResult hostile = observe({"--", "/bin/sh", "-c", act});
    EXPECT_EQ(hostile.termination, Termination(Exited{4})) << act << "\n" << hostile.err;
  }
}

TEST(ObserveCommand, AProgramThatIsNotThereIsNamed) {
  const CommandResult missing = observe({"--", "/no/such/program"});
  EXPECT_EQ(missing.termination, Termination(Exited{3})) << missing.err;
  EXPECT_THAT(missing.err, HasSubstr("/no/such/program: No such file or directory"));
}

}  // namespace
}  // namespace mpsprobe
