// What an installation without LibTorch can do: a folder with the programs that need none.
#include <gmock/gmock.h>

#include <filesystem>

#include "tools/runner/program_fixture_for_tests.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Torchless : public ProgramTest {
 protected:
  Torchless() {
    const fs::path built = MPSPROBE_BINARY_DIR;
    fs::create_directories(folder_ / "bin");
    fs::create_directories(folder_ / "share");
    fs::create_directory_symlink(built / "share/mpsprobe", folder_ / "share/mpsprobe");
    for (const char* program : {"mpsprobe", "mpsprobe-sim-worker", "mpsprobe-selftest-worker"}) {
      fs::copy(built / "bin" / program, folder_ / "bin" / program);
    }
  }
  Run here(const std::string& arguments) const {
    return shell("unset MPSPROBE_BUILD_WORKER; bin/mpsprobe " + arguments);
  }
};

TEST_F(Torchless, TheSimulatedDeviceShowsItsDefects) {
  const Run run = here("run --matrix --backend sim --trials 2 --fail-on unexpected --out out");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("23 of 23 as expected"), HasSubstr("SIMULATED")));
  EXPECT_THAT(read("out/report.md"), HasSubstr("SIMULATED"));
}

TEST_F(Torchless, EachKindOfDefectHappens) {
  const auto outcome = [this](const std::string& profile, const std::string& more = "") {
    return here("run --op linear --backend sim --threads 4 --trials 1 --stall 2 --profile " +
                profile + more + " --out out-" + profile)
        .err;
  };
  EXPECT_THAT(outcome("wrong-numbers"), HasSubstr("wrong_result"));
  EXPECT_THAT(outcome("exception"), HasSubstr("exception"));
  EXPECT_THAT(outcome("hang"), HasSubstr("hang"));
  EXPECT_THAT(outcome("clean"), HasSubstr("1 of 1 trials, 0 failed"));
}

TEST_F(Torchless, EveryOperationComputesItsNumbers) {
  const Run run = here(
      "run --op linear,mm,add,relu,softmax,zeros,axpy,sin,strided_copy,raw --backend sim --threads "
      "2 --model shared,per-thread --stream default,per-thread --profile clean --trials 1 "
      "--fail-on "
      "any --out out");
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
}

TEST_F(Torchless, SelfTestsRun) {
  const Run run = here("run --matrix selftest --filter '*null_dereference*' --trials 1 --out out");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("1 of 1 as expected"));
}

TEST_F(Torchless, BackendsThatAreNotThereHaveAReason) {
  const Run run = here("list backends");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("sim      sim    yes"));
#ifndef __APPLE__
  EXPECT_THAT(run.out, HasSubstr("mps    no   PyTorch's MPS needs a Mac"));
#endif
}

// As beside Python without a framework.
TEST_F(Torchless, AWorkerThatCannotSayWhatItHasHidesNoOther) {
  write("bin/mpsprobe-python-worker", "#!/bin/sh\necho \"${0##*/}: no mlx here\" >&2\nexit 3\n");
  fs::permissions(folder_ / "bin/mpsprobe-python-worker", fs::perms::owner_all);
  const Run run = here("list backends");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("python   -      no   worker python: no mlx here"),
                             HasSubstr("sim      sim    yes")));
  EXPECT_EQ(here("list backends --json").exit_code, 0);
}

// What needs LibTorch says so before anything is fetched or built.
TEST_F(Torchless, SaysWhatTheBackendWouldBeBeforeItIsBuilt) {
  for (const char* what : {"--op mm --backend mps", "--op mlp --backend sim"}) {
    const Run run = shell(std::string("MPSPROBE_BUILD_WORKER=/bin/false bin/mpsprobe run ") + what);
    EXPECT_EQ(run.exit_code, 3) << what;
    EXPECT_THAT(run.err, HasSubstr("could not be built")) << what;
    EXPECT_THAT(run.err, HasSubstr("mpsprobe: the backend ")) << what;
  }
}

}  // namespace
}  // namespace mpsprobe
