// What the programs promise by their exit status, on the simulated device.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "harness/executor/environment.h"
#include "harness/process/command.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using testing::ContainsRegex;
using testing::HasSubstr;

/// One of the programs, and what puts the simulated device below it.
struct Program {
  const char* name;
  const char* path;
  const char* preload;  ///< nullptr: it is linked with the face
};

constexpr Program kPrograms[] = {
#ifdef MPSPROBE_STAND_IN_LIBRARY
    {"libtorch", MPSPROBE_LIBTORCH_PROGRAM, MPSPROBE_STAND_IN_LIBRARY},
#endif
#ifdef MPSPROBE_KERNEL_PROGRAM
    {"kernel", MPSPROBE_KERNEL_PROGRAM, nullptr},
    {"graph", MPSPROBE_GRAPH_PROGRAM, nullptr},
#endif
};

class ProgramsTest : public testing::TestWithParam<Program> {
 protected:
  ProgramsTest() : file_(fs::temp_directory_path() / ("profile-" + std::to_string(getpid()))) {}
  ~ProgramsTest() override { fs::remove(file_); }

  static std::string shipped(const std::string& name) {
    return MPSPROBE_SOURCE_DIR "/scenarios/sim/profiles/" + name + ".json";
  }

  // A profile whose one defect is in linear.
  std::string profile_with(const std::string& defect) const {
    std::ofstream(file_) << R"({"mpsprobe_profile": 1, "name": "test", "streams": "per-thread", )"
                         << R"("defects": [{"ops": ["linear"], )" << defect << "}]}";
    return file_.string();
  }

  static CommandResult run(const std::string& profile, std::vector<std::string> arguments) {
    std::vector<std::string> environment = inherited_environment();
    environment.push_back("MPSPROBE_SIM_PROFILE=" + profile);
    if (GetParam().preload != nullptr) {
      environment.push_back(std::string("LD_PRELOAD=") + GetParam().preload);
    }
    arguments.insert(arguments.begin(), GetParam().path);
    return run_command(arguments, 100, environment);
  }

  static void expect_exit(const CommandResult& result, int code, const std::string& text) {
    EXPECT_EQ(result.termination, Termination(Exited{code})) << result.out << result.err;
    EXPECT_THAT(result.out, HasSubstr(text)) << result.err;
  }

 private:
  fs::path file_;
};

TEST_P(ProgramsTest, ReproducesADefectAndPassesItsControls) {
  const CommandResult result = run(shipped("report-000"), {"--runs", "3"});
  expect_exit(result, 1, "threads: 3 of 3 failed");
  EXPECT_THAT(result.out, HasSubstr("control: one thread: 0 of 3 failed"));
  EXPECT_THAT(result.out, HasSubstr("workaround: a lock: 0 of 3 failed"));
  EXPECT_THAT(result.out, HasSubstr("threads: Segmentation fault"));
}

// What the failure of a process says, behind the arm that it was of.
TEST_P(ProgramsTest, SaysWhichArmFailedAndOfAWrongNumberWhichItIs) {
  const CommandResult result = run(shipped("wrong-numbers"), {"--runs", "2"});
  expect_exit(result, 1, "threads: 2 of 2 failed");
  EXPECT_THAT(result.out, ContainsRegex("\nthreads: (exit status 1|wrong numbers)\n"));
  EXPECT_THAT(result.out, ContainsRegex("thread [0-3], launch [0-9], .*index [0-9]+: expected "
                                        "-?[0-9.e-]+, got -?[0-9.e-]+\n"));
}

TEST_P(ProgramsTest, SeesAFailedCommandBuffer) {
  expect_exit(run(shipped("gpu-error"), {"--runs", "2"}), 1, "threads: 2 of 2 failed");
}

TEST_P(ProgramsTest, SaysThatItsControlFailed) {
  const std::string broken =
      profile_with(R"("slots": 0, "hold_us": 0, "beyond": "null_dereference")");
  expect_exit(run(broken, {"--runs", "1"}), 2, "CONTROL FAILED");
}

TEST_P(ProgramsTest, BelowTheThreadsOfTheDefectNothingFails) {
  const CommandResult result =
      run(shipped("report-000"), {"--threads", "2", "--runs", "2", "--iterations", "3"});
  expect_exit(result, 0, "threads: 0 of 2 failed");
  EXPECT_THAT(result.out, HasSubstr("NOT REPRODUCED"));
}

TEST_P(ProgramsTest, IsStoppedByABrokenProfileBeforeItBegins) {
  const CommandResult result = run("/does/not/exist.json", {"--runs", "1"});
  EXPECT_EQ(result.termination, Termination(Exited{3})) << result.out << result.err;
  EXPECT_THAT(result.err, HasSubstr("/does/not/exist.json: cannot be read"));
  EXPECT_EQ(result.out, "");
}

TEST_P(ProgramsTest, RefusesWrongUsageAndExplainsItself) {
  const std::string clean = shipped("clean");
  expect_exit(run(clean, {"--help"}), 0, "Usage: reproducer [--threads");
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"--threads"},
                                                {"--threads", "0"},
                                                {"--threads", "4x"},
                                                {"--threads", "257"},
                                                {"--runs", "-1"},
                                                {"--iterations", ""},
                                                {"--verbose", "1"},
                                                {"4"}}) {
    expect_exit(run(clean, wrong), 2, "Usage:");
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, ProgramsTest, testing::ValuesIn(kPrograms),
                         [](const auto& program) { return std::string(program.param.name); });

#ifdef MPSPROBE_LIBTORCH_PROGRAM
// That it reproduces there as well is seen by ReproRun.
TEST(LibTorchProgramTest, IsStoppedByABrokenProfileOfADeviceBelowTheCpu) {
  std::vector<std::string> environment = inherited_environment();
  environment.push_back("LD_PRELOAD=" MPSPROBE_SIM_LIBRARY);
  environment.push_back("MPSPROBE_SIM_PROFILE=/does/not/exist.json");
  const CommandResult result = run_command({MPSPROBE_LIBTORCH_PROGRAM}, 100, environment);
  EXPECT_EQ(result.termination, Termination(Exited{3})) << result.out << result.err;
  EXPECT_THAT(result.err, HasSubstr("/does/not/exist.json: cannot be read"));
}
#endif

#ifdef MPSPROBE_KERNEL_PROGRAM
TEST(MetalProgramsTest, AnAttemptThatHangsIsEndedAndCounted) {
  std::vector<std::string> environment = inherited_environment();
  environment.push_back("MPSPROBE_SIM_PROFILE=" MPSPROBE_SOURCE_DIR
                        "/scenarios/sim/profiles/hang.json");
  const CommandResult result =
      run_command({MPSPROBE_HASTY_PROGRAM, "--runs", "1"}, 240, environment);
  EXPECT_EQ(result.termination, Termination(Exited{1})) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("Alarm clock"));
  EXPECT_THAT(result.out, HasSubstr("threads: 1 of 1 failed"));
}

// The simulated device names the rule that Metal's validation names; where a process dies of
// something else, that is said.
TEST(MetalProgramsTest, TheVerdictNamesWhatMetalsValidationSays) {
  const fs::path profile = fs::temp_directory_path() / ("rule-" + std::to_string(getpid()));
  const auto verdict_with = [&](const char* program, const char* beyond) {
    std::ofstream(profile) << R"({"mpsprobe_profile": 1, "name": "test", "defects": [{"ops": )"
                           << R"(["linear", "add"], "slots": 2, "hold_us": 3000, "beyond": )"
                           << beyond << "}]}";
    std::vector<std::string> environment = inherited_environment();
    environment.push_back("MPSPROBE_SIM_PROFILE=" + profile.string());
    const CommandResult result = run_command({program, "--runs", "2"}, 100, environment);
    EXPECT_EQ(result.termination, Termination(Exited{1})) << result.out << result.err;
    EXPECT_THAT(result.out, HasSubstr("\nthreads, validation: 2 of 2 failed\n"));
    return result.out;
  };
  for (const char* program :
       {MPSPROBE_KERNEL_PROGRAM, MPSPROBE_GRAPH_PROGRAM, MPSPROBE_COMPUTE_PROGRAM}) {
    EXPECT_THAT(
        verdict_with(program,
                     R"("assertion", "text": "commit an already committed command buffer")"),
        ContainsRegex("\nthreads, validation: Aborted\n(.*\n)*"
                      "REPRODUCED. Under Metal's validation: .*failed assertion .*'\n$"));
    EXPECT_THAT(verdict_with(program, R"("null_dereference")"),
                HasSubstr("REPRODUCED. Under Metal's validation: failed without naming a rule\n"));
  }
  fs::remove(profile);
}

// A kernel of the program's own: the defect is in add, by any path but a graph's.
TEST(MetalProgramsTest, AKernelOfTheProgramsOwnTellsByItsExitStatusToo) {
  const struct {
    const char* defect;
    int exit;
    const char* said;
  } kCases[] = {
      {R"("slots": 2, "hold_us": 3000, "beyond": "null_dereference")", 1, "threads: 2 of 2 failed"},
      {R"("slots": 2, "hold_us": 3000, "beyond": "wrong_numbers")", 1, "A number is wrong"},
      {R"("slots": 2, "hold_us": 3000, "beyond": "gpu_error")", 1, "A command buffer failed"},
      {R"("slots": 0, "hold_us": 0, "beyond": "null_dereference")", 2, "CONTROL FAILED"},
      {R"("slots": 9, "hold_us": 0, "beyond": "null_dereference")", 0, "NOT REPRODUCED"},
  };
  const fs::path profile = fs::temp_directory_path() / ("add-" + std::to_string(getpid()));
  for (const auto& each : kCases) {
    std::ofstream(profile) << R"({"mpsprobe_profile": 1, "name": "test", "defects": [{"ops": )"
                           << R"(["add"], "paths": ["nograph"], )" << each.defect << "}]}";
    std::vector<std::string> environment = inherited_environment();
    environment.push_back("MPSPROBE_SIM_PROFILE=" + profile.string());
    const CommandResult result =
        run_command({MPSPROBE_COMPUTE_PROGRAM, "--runs", "2"}, 100, environment);
    EXPECT_EQ(result.termination, Termination(Exited{each.exit})) << result.out << result.err;
    EXPECT_THAT(result.out, HasSubstr(each.said)) << each.defect;
    if (each.exit == 1) {
      EXPECT_THAT(result.out, HasSubstr("control: one thread: 0 of 2 failed"));
      EXPECT_THAT(result.out, HasSubstr("workaround: a lock: 0 of 2 failed"));
    }
  }
  fs::remove(profile);
}

// The face ends a program that breaks one of Metal's rules.
TEST(MetalProgramsTest, BreakNoRuleOfTheFace) {
  for (const char* path :
       {MPSPROBE_KERNEL_PROGRAM, MPSPROBE_GRAPH_PROGRAM, MPSPROBE_COMPUTE_PROGRAM}) {
    const CommandResult result = run_command({path, "--runs", "10"}, 110, inherited_environment());
    EXPECT_EQ(result.termination, Termination(Exited{0})) << result.out << result.err;
    EXPECT_THAT(result.out, HasSubstr("threads: 0 of 10 failed"));
    EXPECT_THAT(result.err, testing::Not(HasSubstr("failed assertion")));
  }
}
#endif

}  // namespace
}  // namespace mpsprobe
