#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "harness/input/input_error.h"
#include "harness/journal/trial_json.h"
#include "harness/wire/axis.h"
#include "reports/evidence_for_tests.h"
#include "reports/expectations/expectations.h"
#include "reports/hostile_text_for_tests.h"
#include "reports/writers/forms.h"

namespace mpsprobe {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string text_of(const Journal& journal) {
  std::string text;
  write_report_json(journal, analyse(journal), [&text](std::string_view more) { text += more; });
  return text;
}

std::filesystem::path schema(const std::string& name) {
  return std::filesystem::path(MPSPROBE_BINARY_DIR) / "share/mpsprobe/schema" / name;
}

int exit_code(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// A Python that has jsonschema; tools/setup puts the package into .deps/python where none has it.
std::string python() {
  const std::string path =
      "PYTHONPATH=\"" MPSPROBE_SOURCE_DIR "/.deps/python${PYTHONPATH:+:$PYTHONPATH}\" ";
  for (const char* program : {"python3", "/usr/bin/python3"}) {
    const std::string command = path + program;
    if (exit_code(command + " -c 'from jsonschema import Draft202012Validator' 2>/dev/null") == 0) {
      return command;
    }
  }
  return "";
}

// Which of the instances break the schema, by index.
std::set<size_t> invalid(const std::string& schema_name,
                         const std::vector<std::string>& instances) {
  static const std::string program = python();
  if (program.empty()) {
    ADD_FAILURE() << "no python3 with the package jsonschema (4.0 or later): run tools/setup, or "
                     "install python3-jsonschema";
    return {};
  }
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / ("mpsprobe-json-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::string command = "cd '" + folder.string() + "' && " + program + " '" +
                        schema("validate.py").string() + "' '" + schema(schema_name).string() + "'";
  for (size_t i = 0; i < instances.size(); ++i) {
    const std::string name = std::to_string(i) + ".json";
    std::ofstream(folder / name, std::ios::binary) << instances[i];
    command += " " + name;
  }
  const int code = exit_code(command + " > problems");
  std::set<size_t> found;
  std::string problems;
  std::ifstream stream(folder / "problems");
  for (std::string line; std::getline(stream, line);) {
    found.insert(std::stoul(line));
    problems += line + "\n";
  }
  EXPECT_EQ(code, found.empty() ? 0 : 1) << problems;
  std::filesystem::remove_all(folder);
  return found;
}

// A run with --settle that was cut short: of two boundaries one is settled.
SampleJournal settling() {
  SampleJournal sample;
  sample.journal.header.settle_rate = 0.05;
  sample.plan("cpu/add/default/threads=1").ran(70);
  sample.plan("cpu/add/default/threads=2").ran(10, 10);
  sample.plan("cpu/mm/default/threads=1").ran(10);
  sample.plan("cpu/mm/default/threads=2").ran(10);
  return sample;
}

TEST(Json, OfARunThatSettlesSaysWhatIsSettledAndWhatIsMissing) {
  const json report = json::parse(text_of(settling().journal));
  const json& settling = report.at("settling");
  EXPECT_EQ(settling.at("settled"), 1);
  ASSERT_EQ(settling.at("open").size(), 1U);
  EXPECT_EQ(settling.at("open")[0].at("cell"), "cpu/mm/default/threads=2");
  const int further = settling.at("open")[0].at("further_trials");
  EXPECT_EQ(report.at("planned"), report.at("recorded").get<int>() + further);
  EXPECT_EQ(report.at("complete"), false);
  EXPECT_THAT(report.at("interval_method"), HasSubstr("any stopping time"));
  EXPECT_EQ(report.at("cells")[0].at("planned"), 70);
  // Never narrower than what a number of trials that was fixed beforehand gives.
  EXPECT_GT(report.at("cells")[0].at("interval").at("high"), exact_interval(0, 70).high);
  EXPECT_THAT(report.at("answer").at("text"),
              HasSubstr("Where 5% of trials or more begin to fail is "
                        "settled for 1 of 2 boundaries; 1 open"));
  EXPECT_EQ(report.at("warnings")[0].at("code"), "incomplete");
  EXPECT_EQ(report.at("warnings")[1].at("code"), "not_settled");
}

TEST(Json, ReportsFollowTheSchema) {
  SampleJournal odd;
  odd.plan("mps/add/default/threads=1").came_to(10, Outcome::unsupported);
  odd.plan("mps/add/default/threads=2/processes=2").ran(10, 3, SampleJournal::hang());
  odd.journal.trials[12].processes[0].termination = NotSpawned{11, "posix_spawn"};
  odd.journal.trials[12].processes[1].termination = NotReaped{};
  odd.journal.trials[13].known_good = KnownGood{"mps/empty/default/threads=1", 2, Outcome::pass};
  odd.expect({Verdict::pass, std::nullopt, ""}).left_out("mps/add/graph/threads=1", "no such path");
  SampleJournal layers;
  layers.journal.header.workers.push_back({"fork", "/opt/fork/worker", {}});
  layers.plan("mps/add/default/threads=2").ran(10, 10);
  layers.plan("metal/add/default/threads=2").ran(10, 3);
  layers.plan("cpu/add/default/threads=2").ran(10);
  layers.provenance = "build-b";
  layers.ran(10, 1, SampleJournal::hang(), "fork");
  std::vector<std::string> reports{text_of(report_000().journal),
                                   text_of(odd.journal),
                                   text_of(Journal{}),
                                   text_of(journal_with_evidence().journal),
                                   text_of(layers.journal),
                                   text_of(settling().journal)};
  for (const std::string& hostile : hostile_texts())
    reports.push_back(text_of(journal_with(hostile)));
  EXPECT_THAT(invalid("report.schema.json", reports), IsEmpty());
}

TEST(Json, TheSchemaRefusesWhatIsNoReport) {
  json unknown_key = json::parse(text_of(report_000().journal));
  unknown_key["cells"][0]["surprise"] = 1;
  json no_version = json::parse(text_of(report_000().journal));
  no_version.erase("mpsprobe_report");
  json odd_evidence = json::parse(text_of(journal_with_evidence().journal));
  odd_evidence["trials"][0]["processes"][0]["stacks"]["threads"][0]["frames"][0]["offset"] = "12";
  json old_version = json::parse(text_of(report_000().journal));
  old_version["mpsprobe_report"] = 1;
  const std::vector<std::string> wrong{unknown_key.dump(), no_version.dump(), odd_evidence.dump(),
                                       old_version.dump(), "[]"};
  EXPECT_THAT(invalid("report.schema.json", wrong), SizeIs(wrong.size()));
}

TEST(Json, EveryTrialIsThereRaw) {
  const Journal journal = report_000().journal;
  const json report = json::parse(text_of(journal));
  EXPECT_EQ(report["mpsprobe_report"], 2);
  EXPECT_EQ(report["simulated"], true);
  ASSERT_EQ(report["trials"].size(), journal.trials.size());
  const json& failed = *std::find_if(report["trials"].begin(), report["trials"].end(),
                                     [](auto& t) { return t["judgement"]["outcome"] == "signal"; });
  EXPECT_EQ(failed["processes"][0]["termination"]["name"], "SIGSEGV");
  EXPECT_EQ(failed["processes"][0]["stderr"]["head"], "launching linear\n");
  EXPECT_EQ(failed["processes"][0]["recorder"]["crash"]["address"], "0x18");
  EXPECT_EQ(report["context"]["seed"], "42");
  EXPECT_EQ(report["context"]["arms"][0]["git_hash"], "0a1b2c3d4e5f");
}

TEST(Json, ATrialIsTheSameAsInTheJournal) {
  const Journal journal = journal_with_evidence().journal;
  const json report = json::parse(text_of(journal));
  for (size_t i = 0; i < journal.trials.size(); ++i) {
    EXPECT_EQ(report["trials"][i], trial_to_json(journal.trials[i])) << i;
  }
}

TEST(Json, HoldsTheEvidenceOfASignature) {
  const json report = json::parse(text_of(journal_with_evidence().journal));
  const json& crash = report["signatures"][0];
  EXPECT_EQ(crash["basis"], "frames");
  EXPECT_EQ(crash["also"][1]["title"], "a text that nobody knows");
  EXPECT_EQ(crash["related"], json::array({report["signatures"][1]["title"]}));
  EXPECT_EQ(crash["first"]["stacks"]["threads"][0]["frames"][1]["source"], "stream.cpp:120");
  EXPECT_EQ(crash["first"]["crash_report"]["signal"], "SIGSEGV");
  EXPECT_EQ(crash["first"]["gpu_events"][0]["summary"], "restart: hang");
  EXPECT_EQ(report["signatures"][1]["first"]["recorder"]["probe"], "completed");
  EXPECT_THAT(report["signatures"][1]["first"]["stacks"]["lock_cycle"], SizeIs(8));
  EXPECT_EQ(report["image_sets"]["images-a"][0]["id"], "5105");
}

TEST(Json, HoldsWhatEachLayerShowed) {
  SampleJournal sample;
  sample.plan("mps/add/default/threads=2").ran(10, 10);
  sample.plan("metal/add/default/threads=2").ran(10);
  const json report = json::parse(text_of(sample.journal));
  ASSERT_THAT(report["layers"], SizeIs(1));
  const json& layer = report["layers"][0];
  EXPECT_EQ(layer["kind"], "layers");
  EXPECT_EQ(layer["first"]["cell"], "mps/add/default/threads=2");
  EXPECT_EQ(layer["second"]["failures"], 0);
  EXPECT_EQ(layer["conclusion"], "only_above");
  EXPECT_EQ(layer["words"], "none of 10 seen (below 31%) without PyTorch");
}

TEST(Json, HostileTextIsAsciiAndComesBackWhole) {
  for (const std::string& hostile : hostile_texts()) {
    const std::string text = text_of(journal_with(hostile));
    SCOPED_TRACE(hostile.substr(0, 40));
    EXPECT_TRUE(std::all_of(text.begin(), text.end(),
                            [](char c) { return c == '\n' || (c >= 0x20 && c < 0x7f); }));
    ASSERT_TRUE(json::accept(text));
  }
  const json report = json::parse(text_of(journal_with("\x1b[31m | <b>")));
  EXPECT_EQ(report["trials"][0]["processes"][0]["stderr"]["head"], "\x1b[31m | <b>");
}

TEST(Json, CharactersBeyondAsciiComeBack) {
  // The bounds of those of two, three and four bytes, and DEL.
  const std::string text = "\u007f\u0080\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff\\\"";
  const json report = json::parse(text_of(journal_with(text)));
  EXPECT_EQ(report["trials"][0]["processes"][0]["stderr"]["head"], text);
}

TEST(Json, SameJournalSameBytes) {
  EXPECT_EQ(text_of(report_000().journal), text_of(report_000().journal));
}

constexpr const char* kMatrix = R"({
  "$schema": "https://mpsprobe.invalid/schema/matrix-1.json",
  "mpsprobe_matrix": 1, "name": "mine", "description": "an example",
  "run": {"trials": 20, "timeout": 30, "stall": 5, "budget": 600, "memory_limit_mib": 4096},
  "blocks": [{"title": "Threads", "axes": {"backend": ["sim"], "op": ["linear", "raw"],
              "threads": [1, "2,3-8"], "path": ["default", "graph"], "validation": ["api+shader"]}}],
  "include": ["sim/linear/nograph/threads=3/lock=forward"],
  "exclude": [{"op": ["raw"], "path": ["graph"]}],
  "expect": [{"where": {"threads": [1]}, "verdict": "pass"},
             {"where": {}, "outcome": "signal", "detail": "SIGSEGV"}]})";

TEST(MatrixSchema, AcceptsAWholeMatrix) {
  const std::string axes_alone = R"({"mpsprobe_matrix": 1, "name": "short",
                                     "axes": {"op": ["add"], "threads": ["1-4"]}})";
  EXPECT_THAT(invalid("matrix.schema.json", {kMatrix, axes_alone}), IsEmpty());
}

TEST(MatrixSchema, RefusesMistakes) {
  const auto changed = [](const char* pointer, const json& value) {
    json matrix = json::parse(kMatrix);
    matrix[json::json_pointer(pointer)] = value;
    return matrix.dump();
  };
  const std::vector<std::string> wrong{
      changed("/unknown", 1),
      changed("/mpsprobe_matrix", 2),
      changed("/run/trials", 0),
      changed("/blocks/0/axes/threads", {0}),
      changed("/blocks/0/axes/threads", {"3-"}),
      changed("/blocks/0/axes/thread", {1}),
      changed("/blocks/0/axes/backend", {"vulkan"}),
      changed("/blocks/0/axes/op", "add"),
      changed("/include/0", "linear"),
      changed("/exclude/0", json::object()),
      changed("/expect/0/verdict", "maybe"),
      changed("/expect/1/verdict", "fail"),
  };
  EXPECT_THAT(invalid("matrix.schema.json", wrong), SizeIs(wrong.size()));
}

constexpr const char* kExpectations = R"({
  "$schema": "https://mpsprobe.invalid/schema/expectations-1.json",
  "mpsprobe_expectations": 1,
  "known": [
    {"where": {"cells": ["mps/linear/*"], "axes": {"threads": [2, "4-8"]}, "matrix": "default",
               "worker": "stock", "chip": "Apple M3*", "os": "macOS",
               "os_build": {"from": "25A354"}, "library": {"name": "LibTorch", "before": "2.17"},
               "simulated": false, "paravirtual": false},
     "signature": "commit an already committed command buffer", "failures": 3, "trials": 30,
     "first_seen": "2026-11-01", "last_seen": "2026-11-22T01:17:00Z", "until": "2026-11-22",
     "issue": "https://github.com/pytorch/pytorch/issues/108996", "review_by": "2027-03-01",
     "owner": "mps"},
    {"where": {}, "outcome": "hang"}]})";

// What the schema takes is what the program takes.
TEST(ExpectationsSchema, AcceptsWhatTheProgramDoes) {
  EXPECT_THAT(invalid("expectations.schema.json", {kExpectations}), IsEmpty());
  EXPECT_THAT(parse_expectations(kExpectations, "x"), SizeIs(2));
}

TEST(ExpectationsSchema, RefusesMistakesAsTheProgramDoes) {
  const auto changed = [](const char* pointer, const json& value) {
    json file = json::parse(kExpectations);
    file[json::json_pointer(pointer)] = value;
    return file.dump();
  };
  const std::vector<std::string> wrong{
      changed("/knwon", json::array()),
      changed("/mpsprobe_expectations", 2),
      changed("/known/0/outcome", "hang"),  // beside a signature
      changed("/known/1/outcome", "pass"),
      changed("/known/0/trials", 0),
      changed("/known/1/trials", 10),  // without failures
      changed("/known/0/review_by", "soon"),
      changed("/known/0/first_seen", "yesterday"),
      changed("/known/0/where/thread", 1),
      changed("/known/0/where/cells", json::array()),
      changed("/known/0/where/library", {{"from", "2.11"}}),
      changed("/known/0/where/axes/threads", 2),
      changed("/known/0/issue", ""),
  };
  EXPECT_THAT(invalid("expectations.schema.json", wrong), SizeIs(wrong.size()));
  for (const std::string& text : wrong) {
    EXPECT_THROW(parse_expectations(text, "x"), InputError) << text;
  }
}

}  // namespace
}  // namespace mpsprobe
