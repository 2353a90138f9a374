// Bundles of the simulated device run again: its defects are known, so what is fixed and what is
// not is known as well.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "harness/journal/journal.h"
#include "reproducers/bundle/bundle.h"
#include "reproducers/bundle/bundle_record.h"
#include "tools/runner/program_fixture_for_tests.h"

namespace mpsprobe {
namespace {

using nlohmann::json;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kFailing = "sim/linear/nograph/threads=3";
constexpr const char* kControl = "sim/linear/nograph/threads=1";

class VerifySimulated : public ProgramTest {
 protected:
  /// A bundle of a cell that fails here, made of a real run; its counts as they are given.
  void bundle(const std::string& cell, int failures, int trials) {
    mpsprobe({"run", "--cell", kFailing, "--trials", "1", "--out", path("run")});
    const json report = json::parse(read("run/report.json"));
    const json torch = report.at("provenances").front().at("torch");
    BundleRecord record;
    record.mpsprobe_version = "0.1.0";
    record.signature = report.at("signatures").at(0).at("title");
    record.simulated = true;
    record.measured = "2026-01-31T12:00:00.000Z";
    record.timeout_seconds = 60;
    record.stall_seconds = 20;
    const BuildIdentity build{torch.at("version"), torch.at("git_hash"), torch.at("build_id")};
    const std::vector<std::string> device{"simulated Metal device"};
    record.cells = {{parse_cell(cell), "stock", build, device, failures, 0, trials, false},
                    {parse_cell(kControl), "stock", build, device, 0, 0, trials, true}};
    std::filesystem::create_directory(path("bundle"));
    const std::string text = bundle_record_json(record);
    write("bundle/bundle.json", text);
    write("bundle/MANIFEST.sha256", manifest_of({{"bundle.json", text}}, ""));
  }

  Run verify(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"verify", path("bundle"), "--out", path("out")});
    return mpsprobe(arguments);
  }
};

TEST_F(VerifySimulated, TheSameDeviceStillFails) {
  bundle(kFailing, 10, 10);
  const Run run = verify({"--trials", "3"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, StartsWith("SIMULATED: "));
  EXPECT_THAT(run.out, EndsWith("\nSIMULATED: still fails\n"));
  EXPECT_THAT(read("out/verify.json"), HasSubstr("\"words\": \"SIMULATED: still fails\""));
}

TEST_F(VerifySimulated, ProcessesAreStartedAsItIsTold) {
  bundle(kFailing, 10, 10);
  const Run run = verify({"--trials", "2", "--start-process", "exec"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, EndsWith("\nSIMULATED: still fails\n"));
  const Journal journal = read_journal(path("out/journal.ndjson"));
  EXPECT_EQ(journal.header.start_process, StartProcess::exec);
  EXPECT_FALSE(journal.trials.empty());
  for (const TrialRecord& trial : journal.trials) {
    EXPECT_EQ(trial.processes.at(0).start, StartProcess::exec);
  }
}

}  // namespace
}  // namespace mpsprobe
