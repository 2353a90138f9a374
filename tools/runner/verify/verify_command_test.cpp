// Bundles run again, with workers that are shell scripts: each says which build it is and fails as
// its environment tells. What may be concluded from which counts is tested where it is decided.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "reproducers/bundle/bundle.h"
#include "reproducers/bundle/bundle_record.h"
#include "tools/runner/program_fixture_for_tests.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kCell = "cpu/shell/default/threads=1";
constexpr const char* kControl = "cpu/shell/default/threads=1/iterations=1";
const BuildIdentity kOld{"2.11.0", "aaaaaaa", "1111"};

class VerifyCommand : public ProgramTest {
 protected:
  VerifyCommand() {
    // `fails` is always, never, once, otherwise or killed; a control (iterations=1) never fails.
    worker("old", kOld, "always");
    worker("new", {"2.15.0", "bbbbbbb", "2222"}, "never");
  }

  std::string worker(const std::string& name, const BuildIdentity& build,
                     const std::string& fails) {
    const json provenance{
        {"torch",
         {{"version", build.version}, {"git_hash", build.git_hash}, {"build_id", build.build_id}}},
        {"device", "none: a shell script"}};
    const json describe{{"mpsprobe_worker", 2},
                        {"axes", {"threads", "iterations"}},
                        {"provenance", provenance},
                        {"known_good", "shell"},
                        {"operations",
                         {{{"name", "shell"},
                           {"summary", "fails as it is told"},
                           {"source", "test"},
                           {"paths", {"default"}},
                           {"has_parameters", false},
                           {"dtypes", json::array()},
                           {"shape", "1"},
                           {"dimensions", ""}}}},
                        {"backends", {{{"name", "cpu"}, {"available", true}, {"reason", ""}}}}};
    const json hello{{"event", "hello"}, {"protocol", 2}, {"provenance", provenance}};
    const std::string script = write(name, "#!/bin/sh\nfails=" + fails + "\nonce='" + path(name) +
                                               ".once'\n"
                                               "if [ \"$1\" = describe ]; then\n  echo '" +
                                               describe.dump() +
                                               "'\n  exit 0\nfi\n"
                                               "echo '" +
                                               hello.dump() +
                                               "' >&4\n"
                                               R"(echo '{"event": "ready"}' >&4
dd bs=1 count=1 <&5 >/dev/null 2>&1
case "$3" in *iterations=1*) fails=never ;; esac
if [ $fails = once ]; then
  mkdir "$once" 2>/dev/null && fails=always
fi
assert() {
  echo "-[IOGPUMetalCommandBuffer validate]:214: failed assertion \`$1'" >&2
  kill -ABRT $$
}
[ $fails = killed ] && kill -KILL $$
[ $fails = always ] && assert 'commit command buffer with uncommitted encoder'
[ $fails = otherwise ] && assert 'commit an already committed command buffer'
echo '{"event": "result", "operations": 1, "seconds": 0.1, "checked": 1}' >&4
)");
    fs::permissions(script, fs::perms::owner_all);
    return script;
  }

  /// A bundle of the script's failure.
  std::string bundle(int failures = 10, int trials = 10) const {
    BundleRecord record;
    record.mpsprobe_version = "0.1.0";
    record.signature = "assertion: commit command buffer with uncommitted encoder";
    record.measured = "2026-01-31T12:00:00.000Z";
    record.seed = 7;
    record.timeout_seconds = 30;
    record.stall_seconds = 10;
    const std::vector<std::string> device{"none: a shell script"};
    record.cells = {{parse_cell(kCell), "stock", kOld, device, failures, 0, trials, false},
                    {parse_cell(kControl), "stock", kOld, device, 0, 0, trials, true}};
    fs::create_directory(path("bundle"));
    const std::string text = bundle_record_json(record);
    write("bundle/bundle.json", text);
    write("bundle/MANIFEST.sha256", manifest_of({{"bundle.json", text}}, ""));
    return path("bundle");
  }

  Run verify(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"verify", path("bundle")});
    arguments.insert(arguments.end(), {"--out", path("out")});
    return mpsprobe(arguments);
  }
  std::string old_worker() const { return "old=" + path("old"); }
  std::string new_worker() const { return "stock=" + path("new"); }
};

TEST_F(VerifyCommand, TheSameBuildStillFails) {
  bundle();
  const Run run = verify({"--worker", "stock=" + path("old"), "--trials", "6"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, testing::EndsWith("\nstill fails\n"));
  EXPECT_THAT(run.out,
              HasSubstr("before 10/10, old arm (stock) 6/6, new arm not run: still fails"));
  EXPECT_EQ(
      verify({"--worker", "stock=" + path("old"), "--trials", "1", "--fail-on", "fails"}).exit_code,
      2)
      << "the folder holds a run already";
}

TEST_F(VerifyCommand, ACellWhoseNamesWereKeptOutSaysWhatCanBeVerified) {
  for (const char* cell : {"cpu/operation_1/default/threads=1",
                           "cpu/shell/default/threads=1/env.VARIABLE_2=value_3"}) {
    bundle();
    BundleRecord record = parse_bundle_record(read("bundle/bundle.json"), "");
    record.cells = {{parse_cell(cell), "stock", kOld, {}, 3, 0, 3, false}};
    const std::string text = bundle_record_json(record);
    write("bundle/bundle.json", text);
    write("bundle/MANIFEST.sha256", manifest_of({{"bundle.json", text}}, ""));
    for (const std::string& worker : {path("old"), path("none")}) {
      const Run run = verify({"--worker", "stock=" + worker, "--trials", "1"});
      EXPECT_EQ(run.exit_code, 2) << run.err;
      EXPECT_THAT(run.err, HasSubstr("bundle.json.cells[0].cell: "));
      EXPECT_THAT(run.err, HasSubstr("kept out of the bundle"));
      EXPECT_THAT(run.err, HasSubstr("`mpsprobe feedback --no-redact`"));
    }
  }
}

TEST_F(VerifyCommand, TheNewBuildBesideTheOldOneIsFixedAndTheVerdictIsKept) {
  bundle();
  const Run run =
      verify({"--worker", old_worker(), "--worker", new_worker(), "--fail-on", "unfixed"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, testing::EndsWith("failed again\n"));
  EXPECT_THAT(run.out,
              HasSubstr("before 10/10, old arm (old) 20/20, new arm (stock) 0/20: none seen (below "
                        "17%)"));  // 20 trials by
                                   // default
  const json verdict = json::parse(read("out/verify.json"));
  EXPECT_EQ(verdict.at("finding"), "none_seen");
  EXPECT_EQ(verdict.at("cells").at(0).at("new_arm").at("label"), "stock");
  // The arms ran mixed, in one order.
  const json report = json::parse(read("out/report.json"));
  EXPECT_THAT(report.dump(), HasSubstr("\"seed\":7"));
  std::string workers;
  for (const json& trial : report.at("trials")) workers += trial.at("worker") == "old" ? 'o' : 'n';
  EXPECT_THAT(workers, Not(HasSubstr(std::string(20, 'o'))));
  int kept = 0;
  for (const auto& entry : fs::directory_iterator(path("bundle/verified"))) {
    kept += entry.path().extension() == ".json" ? 1 : 0;
  }
  EXPECT_EQ(kept, 1);
}

TEST_F(VerifyCommand, TheNewBuildAloneIsInconclusiveAndSaidBeforehand) {
  bundle();
  const Run run = verify({"--worker", new_worker(), "--fail-on", "unfixed"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.out, testing::EndsWith("\ninconclusive: the old arm was not run again\n"));
  EXPECT_THAT(run.err, HasSubstr("without --worker old=PATH"));
}

TEST_F(VerifyCommand, ARareFailureTakesMoreTrials) {
  bundle(1, 50);
  worker("old", kOld, "never");
  const Run run =
      verify({"--worker", old_worker(), "--worker", new_worker(), "--trials", "20", "--json"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const json verdict = json::parse(run.out, nullptr, false);
  ASSERT_TRUE(verdict.is_object()) << run.out;
  EXPECT_EQ(verdict.at("words"),
            "inconclusive: 614 trials on each side of a new run would tell; the old arm did not "
            "fail in this run");
  EXPECT_EQ(verdict.at("trials_needed"), 614);
}

TEST_F(VerifyCommand, AnotherFailureIsSaid) {
  bundle();
  worker("new", {"2.15.0", "bbbbbbb", "2222"}, "otherwise");
  const Run run = verify(
      {"--worker", old_worker(), "--worker", new_worker(), "--trials", "3", "--fail-on", "fails"});
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_THAT(run.out,
              testing::EndsWith("fails otherwise: assertion: commit an already committed command "
                                "buffer\n"));
}

TEST_F(VerifyCommand, WhereAllTrialsWereRunNoCommandGoesOn) {
  bundle();
  worker("new", {"2.15.0", "bbbbbbb", "2222"}, "killed");
  const Run run = verify({"--worker", old_worker(), "--worker", new_worker(), "--trials", "2"});
  EXPECT_EQ(run.exit_code, 6) << run.err;
  EXPECT_THAT(run.err, HasSubstr("planned trials came to a result"));
  EXPECT_THAT(run.err, Not(HasSubstr("--resume")));
}

TEST_F(VerifyCommand, WhatWasCutShortIsGoneOnWithAndConcludedAgain) {
  bundle();
  const Run cut = verify(
      {"--worker", old_worker(), "--worker", new_worker(), "--trials", "100", "--budget", "0.01"});
  EXPECT_EQ(cut.exit_code, 6) << cut.err;
  EXPECT_THAT(cut.out, HasSubstr("cut short"));
  EXPECT_THAT(cut.err, HasSubstr(" verify " + path("bundle") + " --resume " + path("out") + "\n"));
  EXPECT_THAT(cut.err, Not(HasSubstr("run --resume")));
  const Run other = mpsprobe({"verify", path("bundle"), "--resume", path("out"), "--trials", "5"});
  EXPECT_EQ(other.exit_code, 2);
  // Each goes on for as long as the budget of the run that began.
  Run again;
  int times = 0;
  do {
    again = mpsprobe({"verify", path("bundle"), "--resume", path("out")});
    ASSERT_THAT(again.exit_code, testing::AnyOf(0, 6)) << again.err;
  } while (again.out.find("cut short") != std::string::npos && ++times < 100);
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_THAT(
      again.out,
      HasSubstr(
          "before 10/10, old arm (old) 100/100, new arm (stock) 0/100: none seen (below 4%)"));
  EXPECT_THAT(again.out, testing::EndsWith("failed again\n"));
}

TEST_F(VerifyCommand, AJournalOfSomethingElseIsNoVerification) {
  bundle();
  mpsprobe({"run", "--cell", "cpu/shell/default/threads=1/iterations=3", "--trials", "1",
            "--worker", old_worker(), "--out", path("other")});
  const Run run = mpsprobe({"verify", path("bundle"), "--resume", path("other")});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("no cell of the bundle"));
}

TEST_F(VerifyCommand, MistakesAreNamed) {
  EXPECT_THAT(mpsprobe({"verify", path("nothing")}).err, HasSubstr("bundle.json"));
  bundle();
  const auto complaint = [this](const std::vector<std::string>& arguments) {
    const Run run = verify(arguments);
    EXPECT_EQ(run.exit_code, 2) << run.err;
    return run.err;
  };
  EXPECT_THAT(complaint({"--worker", "a=" + path("old"), "--worker", "b=" + path("old"), "--worker",
                         "c=" + path("old")}),
              HasSubstr("more than two"));
  EXPECT_THAT(complaint({"--worker", "a=" + path("new"), "--worker", "b=" + path("new")}),
              HasSubstr("neither loads"));
  // A shell script stands by for nobody.
  EXPECT_THAT(complaint({"--worker", "old=" + path("old"), "--start-process", "standby"}),
              HasSubstr("cannot be had of worker old"));
  EXPECT_FALSE(fs::exists(path("out")));
}

TEST_F(VerifyCommand, ABundleThatCannotBeWrittenIsVerifiedAllTheSame) {
  bundle();
  write("bundle/verified", "no folder\n");
  const Run run = verify({"--worker", "stock=" + path("old"), "--trials", "2"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.err, HasSubstr("not kept in the bundle"));
  EXPECT_TRUE(fs::exists(path("out/verify.json")));
}

}  // namespace
}  // namespace mpsprobe
