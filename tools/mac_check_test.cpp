// tools/mac-check with an mpsprobe that does what the test says, on a machine that says it is a
// Mac.
#include <gmock/gmock.h>

#include "tools/runner/program_fixture_for_tests.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kFailing = "9 cells, 90 of 90 trials run, 90 count, 30 failed";
constexpr const char* kPassing = "9 cells, 90 of 90 trials run, 90 count, 0 failed";

// The report's table of cells, as far as it matters. One has a comma in a field.
constexpr const char* kAllPass =
    "\"linear, in quotes\",1,1,30,0\r\nraw,2,1,60,0\r\nraw,4,1,60,0\r\n";
constexpr const char* kThreadsFail = "\"linear, in quotes\",1,1,30,0\r\nraw,2,1,60,30\r\n";
constexpr const char* kOneFails = "\"linear, in quotes\",1,1,30,10\r\nraw,2,1,60,20\r\n";
constexpr const char* kProcessesFail = "raw,1,1,30,0\r\nraw,1,2,60,30\r\n";

class MacCheck : public ProgramTest {
 protected:
  MacCheck() {
    fs::create_directory(folder_ / "bin");
    program("bin/uname", "[ \"$1\" = -s ] && echo Darwin || echo Darwin 24.6.0 arm64");
    program("bin/sw_vers", "echo ProductVersion: 15.7.9");
    program("bin/sysctl", ":");
    // A Mac without Xcode: what needs it asks for an installation, and so does Python.
    program("bin/xcode-select", "exit 2");
    for (const char* name : {"bin/xcrun", "bin/python3"}) program(name, "echo $0 >> asked; exit 1");
    // Each part is a script of its own, which a test can replace.
    program("mpsprobe", R"(here=$(dirname "$0")
case $1 in
  --version) exec "$here/version" ;;
  doctor) exec "$here/doctor" "$@" ;;
esac
while [ "$1" != --out ]; do [ "$1" != --matrix ] || matrix=$2; shift; done
mkdir -p "$2" && echo journal > "$2/journal.ndjson"
export folder="$2"
[ "$3" != --backend ] || matrix=$matrix-$4
exec "$here/$matrix")");
    program("version", "echo mpsprobe 0.1.0");
    devices("ok  ", "ok  ");
    program("selftest", "echo '51 cells, 51 of 51 trials run, 50 count, 43 failed'");
    quick("mps", kFailing, kThreadsFail);
    quick("metal", kPassing, kAllPass);
  }

  void program(const std::string& name, const std::string& commands) const {
    fs::permissions(write(name, "#!/bin/sh\n" + commands + "\n"), fs::perms::owner_all);
  }
  /// What doctor says of mps; metal is well.
  void devices(const std::string& device, const std::string& numbers, int exit_code = 0) const {
    program("doctor", "cat <<END\nbackends\n  " + device + "  stock: mps device: Apple M4 Max\n" +
                          "  ok    stock: metal device: Apple M4 Max\ntrials\n  " + numbers +
                          "  stock: mps computes right numbers: mm\n" +
                          "  ok    stock: metal computes right numbers: yes\nEND\nexit " +
                          std::to_string(exit_code));
  }
  void quick(const std::string& backend, const std::string& last_line,
             const std::string& cells = kAllPass, int exit_code = 0) const {
    write("cells-" + backend, "cell,threads,processes,counted,failures\r\n" + cells);
    program("quick-" + backend, "cp \"$(dirname \"$0\")/cells-" + backend +
                                    "\" \"$folder/cells.csv\"\necho '" + last_line + "'; exit " +
                                    std::to_string(exit_code));
  }

  Run check(const std::string& arguments = "") const {
    return shell("PATH=\"$PWD/bin:$PATH\" '" MPSPROBE_SOURCE_DIR
                 "/tools/mac-check' --mpsprobe "
                 "\"$PWD/mpsprobe\" --out out " +
                 arguments);
  }
  /// What is packed, one name a line.
  std::string packed() const { return shell("tar -tzf out.tar.gz").out; }
};

TEST_F(MacCheck, FailuresConfirmPassesRefuteAndTheCountsAreTheReports) {
  const Run run = check();
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("VERDICT: CONFIRMED (1 confirmed, 1 refuted, 0 could not be run)\n"
                                 "  mps: CONFIRMED, and one thread alone failed in 0 of 30: " +
                                 std::string(kFailing) +
                                 "\n"
                                 "  metal: REFUTED as far as these trials go: " +
                                 kPassing + "\n"));
  EXPECT_THAT(run.out, Not(HasSubstr("PARAVIRTUAL")));
  EXPECT_THAT(run.out, Not(HasSubstr("NOTHING HERE")));
  for (const char* name :
       {"out/verdict.txt", "out/machine.txt", "out/doctor.txt", "out/doctor.json",
        "out/quick-mps/journal.ndjson", "out/selftest/journal.ndjson"}) {
    EXPECT_THAT(packed(), HasSubstr(name));
  }
  EXPECT_THAT(run.out, HasSubstr("out.tar.gz\nWhat to do with it: attach it to an issue"));
}

// What is installed is enough: by the variable, and in PATH.
TEST_F(MacCheck, OfAMacWithoutXcodeTakesWhatIsInstalled) {
  const auto check_with = [this](const std::string& variables) {
    fs::remove_all(folder_ / "out");
    return shell("export PATH=\"$PWD/bin:$PATH\"; " + variables +
                 " '" MPSPROBE_SOURCE_DIR "/tools/mac-check' --out out");
  };
  const Run named = check_with("MPSPROBE_BIN=\"$PWD/mpsprobe\"");
  EXPECT_EQ(named.exit_code, 0) << named.out << named.err;
  EXPECT_THAT(named.out, HasSubstr("/mpsprobe (installed: nothing is built)\n"));
  EXPECT_THAT(named.out, HasSubstr("VERDICT: CONFIRMED"));
  EXPECT_THAT(check_with("MPSPROBE_BIN=nosuch").err, HasSubstr("MPSPROBE_BIN nosuch: no program"));

  const Run found = check_with("PATH=\"$PWD:$PATH\"");
  EXPECT_EQ(found.exit_code, 0) << found.out << found.err;
  EXPECT_THAT(found.out, HasSubstr("VERDICT: CONFIRMED"));
  EXPECT_FALSE(fs::exists(folder_ / "asked")) << "neither Xcode nor Python is to be needed";

  fs::rename(folder_ / "mpsprobe", folder_ / "elsewhere");
  const Run missing = check_with("");
  EXPECT_EQ(missing.exit_code, 3) << missing.out;
  EXPECT_THAT(missing.err, HasSubstr("there is no mpsprobe here, and nothing"));
  // No such package is published.
  EXPECT_THAT(missing.err, Not(HasSubstr("pip install mpsprobe")));
}

// tar of macOS makes a file of the attributes of each unless it is told not to (copyfile(3)).
TEST_F(MacCheck, PacksFilesAlone) {
  program("bin/tar", "echo \"$COPYFILE_DISABLE\" > \"$(dirname \"$0\")/copyfile\"; exit 1");
  check();
  EXPECT_EQ(shell("cat bin/copyfile").out, "1\n");
}

TEST_F(MacCheck, WhatPassesEverywhereIsRefutedAndNoProof) {
  quick("mps", kPassing);
  const Run run = check();
  EXPECT_EQ(run.exit_code, 0) << run.out;
  EXPECT_THAT(run.out,
              HasSubstr("VERDICT: REFUTED, as far as these trials go (0 confirmed, 2 ref"));
  EXPECT_THAT(run.out, HasSubstr("leaves room for rare ones"));
}

TEST_F(MacCheck, WhatOneThreadDoesAsWellConfirmsNothingAboutThreads) {
  quick("mps", kFailing, kOneFails);
  EXPECT_THAT(check().out,
              HasSubstr("mps: COULD NOT BE JUDGED: one thread alone failed in 10 of 30 trials"));
}

TEST_F(MacCheck, FailuresOfProcessesConfirmNothingAboutThreads) {
  quick("mps", kFailing, kProcessesFail);
  const Run run = check();
  EXPECT_THAT(run.out, HasSubstr("mps: COULD NOT BE JUDGED: 0 failures with several threads, 30 "
                                 "with several processes"));
  EXPECT_THAT(run.out, HasSubstr("0 confirmed, 1 refuted"));
}

TEST_F(MacCheck, AParavirtualGpuIsSaid) {
  devices("warn", "ok  ");
  quick("mps", std::string("PARAVIRTUAL GPU: ") + kFailing, kThreadsFail);
  const Run run = check();
  EXPECT_EQ(run.exit_code, 0) << run.out;
  EXPECT_THAT(run.out, HasSubstr("mps: CONFIRMED, and one thread alone failed in 0 of 30: "
                                 "PARAVIRTUAL GPU: 9 cells"));
  EXPECT_THAT(run.out, HasSubstr("says nothing of a real chip"));
}

TEST_F(MacCheck, ADeviceThatComputesWrongIsNotTriedWithThreads) {
  devices("ok  ", "FAIL", 3);
  quick("mps", kFailing);
  const Run run = check();
  EXPECT_EQ(run.exit_code, 1) << run.out;
  EXPECT_THAT(run.out, HasSubstr("mps: COULD NOT BE RUN: one thread alone does not compute right"));
  EXPECT_THAT(run.out,
              HasSubstr("VERDICT: REFUTED, as far as these trials go (0 confirmed, 1 ref"));
  EXPECT_THAT(run.out, HasSubstr("Parts that failed:\n  doctor: "));
  EXPECT_THAT(packed(), Not(HasSubstr("quick-mps")));
}

TEST_F(MacCheck, ABuildThatFailsIsPackedWithWhatItSaid) {
  program("version", "echo 'error: no compiler'; echo 'mpsprobe: the build failed' >&2; exit 3");
  const Run run = check();
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.out, HasSubstr("error: no compiler"));
  EXPECT_THAT(run.out, HasSubstr("FAILED: build: the build failed\n"));
  EXPECT_THAT(run.out, HasSubstr("VERDICT: COULD NOT BE RUN (0 confirmed, 0 refuted, 1 could not"));
  EXPECT_THAT(packed(), HasSubstr("out/build.txt"));
  EXPECT_THAT(packed(), Not(HasSubstr("doctor")));
}

TEST_F(MacCheck, ItGoesOnWhereOnePartFailsAndNamesIt) {
  program("selftest",
          "echo 'UNEXPECTED cpu/selftest.trap/default/threads=2: pass 0/1'; "
          "echo '51 cells, 51 of 51 trials run, 50 count, 43 failed'; exit 1");
  quick("metal", "mpsprobe: report.md cannot be written", kAllPass, 5);
  const Run run = check();
  EXPECT_EQ(run.exit_code, 1) << run.out;
  EXPECT_THAT(run.out, HasSubstr("UNEXPECTED cpu/selftest.trap"));
  EXPECT_THAT(run.out, HasSubstr("self-test: 1 did not come out as expected"));
  EXPECT_THAT(run.out, HasSubstr("mps: CONFIRMED, and one thread"));
  EXPECT_THAT(run.out, HasSubstr("metal: COULD NOT BE RUN: report.md cannot be written\n"));
}

TEST_F(MacCheck, CtrlCEndsItWithWhatThereIs) {
  program("quick-mps",
          "kill -INT $PPID; echo '9 cells, 7 of 90 trials run, 7 count, 2 failed'; "
          "exit 130");
  const Run run = check();
  EXPECT_EQ(run.exit_code, 130) << run.out;
  EXPECT_THAT(run.out,
              HasSubstr("mps: COULD NOT BE RUN to its end, interrupted; its report so far: "
                        "9 cells, 7 of 90"));
  EXPECT_THAT(run.out, Not(HasSubstr("metal: REFUTED")));
  EXPECT_THAT(run.out, HasSubstr("\nInterrupted: "));
  EXPECT_THAT(packed(), HasSubstr("out/quick-mps/journal.ndjson"));
}

TEST_F(MacCheck, OnAnotherSystemItSaysThatItSaysNothing) {
  fs::remove(folder_ / "bin/uname");
  program("bin/uname", "echo Linux");
  program("quick", std::string("echo 'SIMULATED: ") + kFailing + "'");
  const Run run = check();
  EXPECT_EQ(run.exit_code, 3) << run.out;
  EXPECT_THAT(run.out, HasSubstr("NOTHING HERE SAYS ANYTHING ABOUT APPLE'S STACK"));
  EXPECT_THAT(run.out, HasSubstr("VERDICT: COULD NOT BE RUN"));
  EXPECT_THAT(run.out, HasSubstr("What ran instead: SIMULATED: 9 cells"));
  EXPECT_THAT(run.out, Not(HasSubstr("CONFIRMED:")));
}

TEST_F(MacCheck, WrongUsageRunsNothing) {
  EXPECT_EQ(check("--nosuch").exit_code, 2);
  EXPECT_EQ(check("--trials 0").exit_code, 2);
  EXPECT_EQ(check("--minutes").exit_code, 2);
  EXPECT_FALSE(fs::exists(folder_ / "out"));
  fs::create_directory(folder_ / "out");
  const Run exists = check();
  EXPECT_EQ(exists.exit_code, 2);
  EXPECT_THAT(exists.err, HasSubstr("--out out: exists already"));
  EXPECT_FALSE(fs::exists(folder_ / "out.tar.gz"));
}

class JobSummary : public ProgramTest {
 protected:
  JobSummary() {
    fs::create_directories(folder_ / "out/quick-mps");
    write("out/verdict.txt", "VERDICT: CONFIRMED (1 confirmed, 0 refuted, 0 could not be run)\n");
    write("out/doctor.txt", "  ok    stock: mps device: Apple M4 Max\n");
  }
  void report(size_t lines) const {
    std::string text = "# mpsprobe report\n";
    for (size_t i = 0; i < lines; ++i) text += "| a row of a table, with a × in it |\n";
    write("out/quick-mps/report.md", text);
  }
  Run summary(const std::string& arguments) const {
    return shell("'" MPSPROBE_SOURCE_DIR "/tools/job-summary' " + arguments);
  }
};

TEST_F(JobSummary, ShowsVerdictReportsAndDoctor) {
  report(3);
  const Run run = summary("out");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("    VERDICT: CONFIRMED"));
  EXPECT_THAT(run.out, HasSubstr("\n# mpsprobe report\n| a row"));
  EXPECT_THAT(run.out, HasSubstr("    "
                                 "  ok    stock: mps device"));
  EXPECT_THAT(run.out, Not(HasSubstr("Cut:")));
}

TEST_F(JobSummary, IsCutAtTheEndOfALineBelowTheLimitAndSaysSo) {
  report(60'000);
  const Run run = summary("out");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_LT(run.out.size(), 1U << 20);
  EXPECT_GT(run.out.size(), 900'000U);
  EXPECT_EQ(run.out.find("> Cut: this summary holds 1000000 of 2"), 0U);
  EXPECT_TRUE(run.out.ends_with("| a row of a table, with a × in it |\n"));
  // Whichever byte the cut falls on.
  for (int most = 2000; most < 2045; ++most) {
    const Run cut = summary("out " + std::to_string(most));
    EXPECT_TRUE(cut.out.ends_with(" in it |\n")) << most;
  }
}

TEST_F(JobSummary, OfNothingSaysThatNothingIsThere) {
  fs::create_directory(folder_ / "empty");
  EXPECT_THAT(summary("empty").out, HasSubstr("left nothing here"));
  EXPECT_EQ(summary("nowhere").exit_code, 2);
}

}  // namespace
}  // namespace mpsprobe
