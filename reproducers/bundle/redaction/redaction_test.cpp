// Names, numbers and keys in here and in testdata are nobody's: they were made up for the test.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "harness/journal/header_fields.h"
#include "harness/journal/header_json.h"
#include "harness/journal/record_json.h"
#include "harness/journal/trial_json.h"
#include "harness/signature/find_failures.h"
#include "harness/signature/written_stacks.h"
#include "reports/hostile_text_for_tests.h"
#include "reports/sample_journal_for_tests.h"
#include "reproducers/bundle/redaction/planted_texts_for_tests.h"
#include "reproducers/bundle/redaction/redact_journal.h"
#include "reproducers/bundle/redaction/typed_values.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr bool kWithTorch = !std::string_view(MPSPROBE_TEST_TORCH).empty();

/// With the texts of the LibTorch that this was built with, its Python package, and mpsprobe's own.
Redactor with_libraries() {
  Redactor redactor(true);
  const fs::path root = MPSPROBE_TEST_TORCH;  // empty in builds without it
  std::error_code error;
  for (const fs::path& folder : {root / "lib", fs::path("/usr/lib/x86_64-linux-gnu")}) {
    for (const auto& file : fs::directory_iterator(folder, error)) {
      const std::string name = file.path().filename();
      const bool wanted = folder != fs::path("/usr/lib/x86_64-linux-gnu") || name == "libc.so.6" ||
                          name == "libstdc++.so.6";
      if (wanted && file.is_regular_file()) add_own(fs::canonical(file.path()), redactor);
    }
  }
  for (const auto& file : fs::recursive_directory_iterator(root, error)) {
    if (file.path().extension() == ".py") add_own(file.path(), redactor);
  }
  for (const auto& file :
       fs::directory_iterator(fs::path(MPSPROBE_SOURCE_DIR) / "harness/outcome")) {
    if (file.path().extension() == ".cpp") add_own(file.path(), redactor);
  }
  return redactor;
}

/// A small library that says what real ones do.
Redactor with_small_library() {
  Redactor redactor(true);
  constexpr char kLiterals[] =
      "Expected all tensors to be on the same device, but found at least two devices, \0"
      "Tried to allocate {} on shared pool. \0size of tensor a (%d) must match\0"
      "Shutting down the worker\0PYTORCH_ENABLE_MPS_FALLBACK\0OMP_NUM_THREADS\0linear";
  redactor.software().add({kLiterals, sizeof kLiterals});
  return redactor;
}

/// As an exception, an assertion and a traceback of Python tell of it, which rules read.
std::vector<std::string> told_by_failures(const std::string& text) {
  return {"terminate called after throwing an instance of 'std::runtime_error'\n  what():  " + text,
          "Assertion failed: (" + text + "), function f, file a.mm",
          "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nValueError: " + text};
}

TEST(Redactor, KeepsNoPlantedTextWhereverItStands) {
  Redactor redactor = with_libraries();
  const std::string known =
      "RuntimeError: Placeholder storage has not been allocated on MPS device!";
  if (kWithTorch) {
    ASSERT_EQ(redactor.output(known), known);
  }
  const std::vector<PlantedText> planted = planted_texts();
  EXPECT_GE(planted.size(), 783U);
  std::vector<std::string> left;
  for (const PlantedText& each : planted) {
    std::vector<std::string> shown{redactor.output(each.text),
                                   redactor.text(each.text),
                                   redactor.output("step 3\n" + each.text),
                                   redactor.title("bad access in " + each.text, {}),
                                   redactor.path("/srv/" + each.text + "/x.so"),
                                   redactor.path(each.text),
                                   redactor.symbol(each.text, "x.so"),
                                   redactor.variable("PYTORCH_X=" + each.text),
                                   redactor.variable(each.text + "=1")};
    for (const std::string& told : told_by_failures(each.text)) {
      shown.push_back(redactor.output(told));
      for (const Finding& finding : find_failures(told)) {
        shown.push_back(redactor.title(finding.title, {}));
        shown.push_back(redactor.output(finding.excerpt));
      }
    }
    for (const std::string& personal : each.personal) {
      const auto at = std::find_if(shown.begin(), shown.end(), [&](const std::string& text) {
        return text.find(personal) != std::string::npos;
      });
      if (at != shown.end()) left.push_back(each.kind + ": " + personal + " in " + *at);
    }
  }
  EXPECT_THAT(left, IsEmpty()) << left.size();
}

// Frames of the software and texts of rules stay, whether a library is at hand or not.
TEST(Redactor, KeepsWhatARuleOrAFrameKnows) {
  if (!kWithTorch) GTEST_SKIP() << "built without LibTorch, whose words most of them are";
  Redactor redactor = with_libraries();
  size_t whole = 0;
  size_t part = 0;
  std::vector<std::string> spoilt;
  for (const std::string& line : technical_lines()) {
    const std::string shown = redactor.output(line);
    whole += shown == line ? 1 : 0;
    part += shown != line && shown.find("left out") == std::string::npos ? 1 : 0;
    const bool known = !words_of_rules(line).empty() || read_frame_line(line).has_value();
    if (known && shown != line) spoilt.push_back(line + "  BECAME  " + shown);
  }
  RecordProperty("whole", static_cast<int>(whole));
  RecordProperty("part", static_cast<int>(part));
  EXPECT_GE(whole, 200U) << part;
  for (const std::string& line : spoilt) EXPECT_THAT(line, Not(HasSubstr("[... 1 line"))) << line;
}

TEST(Redactor, KeepsRunsOfTheSoftwareAndNumbersWhereItsLiteralsHaveThem) {
  Redactor redactor = with_small_library();
  EXPECT_EQ(redactor.output("Expected all tensors to be on the same device, but jane moved one"),
            "Expected all tensors to be on the same device, but <...>");
  EXPECT_EQ(redactor.text("Tried to allocate 2.00 on shared pool."),
            "Tried to allocate 2.00 on shared pool.");
  EXPECT_EQ(redactor.text("size of tensor a (3) must match"), "size of tensor a (3) must match");
  EXPECT_EQ(redactor.text("size of tensor a (3) must match tensor janes"),
            "size of tensor a (3) must match <...>");
  EXPECT_EQ(redactor.text("Shutting down the workers"), "Shutting down the <...>");
  EXPECT_EQ(redactor.text("Shutting"), "<...>");
}

TEST(Redactor, SaysHowManyLinesAreLeftOut) {
  Redactor redactor = with_small_library();
  EXPECT_EQ(
      redactor.output("Jane Plantedova trains\nfor otto\n\nShutting down the worker\nsaved\n"),
      "[... 2 lines left out ...]\nShutting down the worker\n[... 1 line left out ...]\n");
  EXPECT_EQ(redactor.lines_left_out(), 3U);
  EXPECT_EQ(redactor.output(""), "");
}

TEST(Redactor, KeepsFunctionsOfTheSoftwareAlone) {
  Redactor redactor(true);
  redactor.add_system_image("/System/Library/Frameworks/Planted.framework/Planted");
  redactor.add_system_image("/opt/x/libjane.dylib");
  for (const char* kept :
       {"frame #4: 0x000000010b1c2d3e libmlx.dylib`mlx::core::planted(int) + 44",
        "#3  0x00007ffff7a5c1d2 in planted_out () from /usr/lib/libtorch_cuda.so",
        "3   Planted                       	       0x118a3b5c0 planted_out + 412"}) {
    EXPECT_EQ(redactor.output(kept), kept);
  }
  EXPECT_EQ(redactor.output("frame #4: 0x000000010b1c2d3e libjane.dylib`jane::run(int) + 44"),
            "frame #4: 0x000000010b1c2d3e <...>) + 44");
  EXPECT_EQ(redactor.output("#1 0x7f00aa in at::add(int) /home/jane/a.cpp:3 (libtorch.so+0x1c)"),
            "#1 0x7f00aa in at::add(int) /<...>:3 (libtorch.so+0x1c)");
  EXPECT_EQ(redactor.output("jane/lib/libtorch.so(at_add+0x12) [0x7f00aa]"),
            "<...>/libtorch.so(at_add+0x12) [0x7f00aa]");
  EXPECT_EQ(redactor.symbol("jane::run(int)", "libjane.dylib"), "<...>");
  EXPECT_EQ(redactor.symbol("at::linear(int)", "libtorch_cpu.so"), "at::linear(int)");
  EXPECT_EQ(
      redactor.symbol("run<(lambda at /home/jane/a.cpp:1:2) &>(int)", "libmpsprobe_own_mps.so"),
      "run<(lambda) &>(int)");
  EXPECT_EQ(redactor.symbol("run<(lambda at /home/jane", "mpsprobe-mlx-worker-0.31.1"),
            "run<(lambda)");
  EXPECT_EQ(redactor.title("race: at::Pool::take / at::Pool::give", {}),
            "race: at::Pool::take / at::Pool::give");
  EXPECT_EQ(redactor.text("Previous write of size 8 by thread T4"),
            "Previous write of size 8 by thread T4");
  EXPECT_EQ(redactor.title("bad access in jane::Pool::take", {"jane::Pool::take"}),
            "bad access in jane::Pool::take");
  EXPECT_EQ(redactor.title("bad access in jane::Pool::take", {}), "bad access in <...>");
}

TEST(Redactor, KeepsPathsOfTheSystemAndNamesOfTheSoftware) {
  Redactor redactor(true);
  EXPECT_EQ(redactor.path("/usr/lib/libx.so"), "/usr/lib/libx.so");
  EXPECT_EQ(redactor.path("/Users/jane/libtorch_cpu.dylib"), "*/libtorch_cpu.dylib");
  EXPECT_EQ(redactor.path("/Users/jane/plan.so.2"), "*/<file>.so");
  EXPECT_EQ(redactor.path("plan"), "<file>");
  EXPECT_EQ(redactor.build_id("A1B2-C3"), "A1B2-C3");
  EXPECT_EQ(redactor.build_id("jane"), "<id>");
}

TEST(Redactor, GivenTextsAreNeverKept) {
  Redactor redactor(true, {"Same Device"});
  redactor.software().add("Expected all tensors to be on the same device");
  EXPECT_EQ(redactor.text("Expected all tensors to be on the same device"),
            "Expected all tensors to be on the <...>");
}

TEST(Redactor, DisabledKeepsAll) {
  Redactor redactor(false);
  EXPECT_EQ(redactor.output("jane\n/Users/jane"), "jane\n/Users/jane");
  EXPECT_EQ(redactor.path("/Users/jane/x"), "/Users/jane/x");
}

TEST(Redactor, TakesTimeLinearInTheText) {
  Redactor redactor = with_small_library();
  std::string raw;
  for (int i = 0; i < 20000; ++i) raw += "/Users/a\\/\\/%2f user=\"serialnumber @x.y 0x12 [[[";
  EXPECT_THAT(redactor.output(raw), Not(HasSubstr("/Users/a")));
}

TEST(ShownAs, LeftOutPartsStandForAnything) {
  EXPECT_TRUE(could_be_shown_as("bad access in a::b", "bad access in <...>"));
  EXPECT_TRUE(could_be_shown_as("exception: jane is closed", "exception: <...> is closed (2)"));
  EXPECT_FALSE(could_be_shown_as("exception: jane is open", "exception: <...> is closed"));
  EXPECT_FALSE(could_be_shown_as("hang in a::b", "bad access in <...>"));
  EXPECT_EQ(without_number("wrong result: <...> (5)"), "wrong result: <...>");
  EXPECT_EQ(without_number("wrong result: test (5)"), "wrong result: test (5)");
  EXPECT_FALSE(could_be_shown_as("anything", "<...>"));
  EXPECT_FALSE(could_be_shown_as("bad access in a", "bad access in b"));
}

TEST(SoftwareText, KnowsWholeWordsOfItsLiterals) {
  SoftwareText text;
  EXPECT_TRUE(text.empty());
  constexpr char kLiterals[] = "the first literal\0second of them\0'quoted'";
  text.add({kLiterals, sizeof kLiterals});
  EXPECT_EQ(text.run_at("the first literal", 0), 17U);
  EXPECT_EQ(text.run_at("the first literals", 0), 0U) << "too short without its last word";
  EXPECT_EQ(text.run_at("he first literal", 0), 0U);
  EXPECT_FALSE(text.has_literal("second of them"));
  EXPECT_TRUE(text.has_literal("quoted"));
  EXPECT_FALSE(text.has_literal("second"));
}

// An interpreter that was installed into a home has its path built in.
TEST(SoftwareText, ForgetsTheFoldersOfPersons) {
  SoftwareText text;
  text.add("built with --prefix=/Users/planted.one/lib/python and other words");
  EXPECT_EQ(text.run_at("/Users/planted.one/lib/python and other", 0), 0U);
  EXPECT_EQ(text.run_at("planted.one/lib/python", 0), 0U);
  EXPECT_EQ(text.run_at("lib/python and other words", 0), 26U);
  const std::string home = std::getenv("HOME") == nullptr ? "" : std::getenv("HOME");
  setenv("HOME", "/srv/planted/two", 1);
  text.add("/srv/planted/two/lib/python3.11");
  setenv("HOME", home.c_str(), 1);
  EXPECT_EQ(text.run_at("/srv/planted/two/lib/python3.11", 0), 0U);
  EXPECT_EQ(text.run_at("planted/two/lib/python3.11", 0), 0U);
}

/// Everything that a bundle can say of a journal.
std::string redacted(Journal& journal, Redactor& redactor) {
  redact_journal(journal, redactor, false);
  nlohmann::json all{header_to_json(journal.header), journal.provenances};
  for (const auto& [id, images] : journal.image_sets)
    all.push_back({id, record_json::write<nlohmann::json>(images)});
  for (const TrialRecord& trial : journal.trials) all.push_back(trial_to_json(trial));
  for (const CampaignEnd& end : journal.ends) all.push_back(record_to_json(end));
  return all.dump();
}

TEST(JournalRedaction, TakesEveryTextOfAJournalByItsKind) {
  Journal journal = journal_with("/Users/plantedone/secret.py");
  journal.header.shard = Shard{0, 2};
  journal.header.whole = journal.header.cells;
  for (TrialRecord& trial : journal.trials) {
    for (ProcessRecord& process : trial.processes) {
      process.crash_report->file = process.gpu_events[0].file = "";
      process.termination = NotSpawned{2, "/Users/plantedone/worker: no such file"};
    }
  }
  Redactor redactor(true);
  EXPECT_THAT(redacted(journal, redactor), Not(HasSubstr("plantedone")));
  const ProcessRecord& process = journal.trials[0].processes[0];
  EXPECT_EQ(process.failures[0].text, "[... 1 line left out ...]");
  EXPECT_EQ(process.crash_report->incident, "");
  EXPECT_TRUE(journal.provenances.contains(process.hello->provenance));
  EXPECT_TRUE(journal.image_sets.contains(process.image_set));
  EXPECT_EQ(journal.trials[0].worker, journal.header.workers[0].name);
}

// What stands in the place of an output may be longer than it was.
TEST(JournalRedaction, NeverCountsMoreDroppedBytesThanThereWere) {
  SampleJournal sample;
  sample.plan("sim/linear/graph/threads=2").ran(1);
  Capture& err = sample.journal.trials[0].processes[0].err;
  err.head = "jane";
  err.bytes = 4;
  Capture& out = sample.journal.trials[0].processes[0].out;
  out.head = "jane";
  out.bytes = 1000;
  Redactor redactor(true);
  EXPECT_THAT(redacted(sample.journal, redactor), HasSubstr("\"dropped\":0"));
  EXPECT_GT(err.head.size(), 4U);
  EXPECT_EQ(err.dropped(), 0U);
  EXPECT_EQ(out.dropped(), 996U);
}

TEST(JournalRedaction, KeepsTheSourceOfALibrarysFrameAlone) {
  SampleJournal sample;
  sample.plan("sim/linear/graph/threads=2").ran(1);
  ThreadStack stack;
  stack.frames = {{"libmlx.so", "", 1, "mlx::core::eval", "/Users/janes/mlx/eval.cpp:7"},
                  {"libjane.so", "", 1, "main", "/Users/janes/kim.cpp:7"}};
  sample.journal.trials[0].processes[0].stacks.threads = {stack};
  Redactor redactor(true);
  const std::string all = redacted(sample.journal, redactor);
  EXPECT_THAT(all, HasSubstr("\"eval.cpp:7\""));
  EXPECT_THAT(all, Not(HasSubstr("janes")));
  EXPECT_THAT(all, Not(HasSubstr("kim")));
}

TEST(JournalRedaction, AKeyThatIsNewInAJournalIsLeftOutUntilItsKindIsStated) {
  SampleJournal sample;
  sample.plan("sim/linear/graph/threads=2").ran(1);
  Journal& journal = sample.journal;
  for (nlohmann::json* place :
       {&journal.provenances["build-a"], &journal.header.workers[0].describe["provenance"],
        &journal.header.workers[0].describe, &journal.header.machine}) {
    (*place)["surprise"] = "kim";
    (*place)["kim"] = 1;
    (*place)["torch"]["owner"] = {{"name", "kim"}};
    (*place)["torch"]["version"] = "2.15.0";
    (*place)["device"] = {{"nickname", "kim"}, {"name", "Apple M4"}};
    (*place)["environment"] = {{"NICKNAME", "kim"}, {"PYTORCH_KIM", "/opt/kim/x.so"}};
    (*place)["symbols"] = {{"_owner", "kim"}, {"_pool_of_kim", true}};
    (*place)["frameworks"] = {{"Kims", "kim"}};
  }
  Redactor redactor(true);
  const std::string all = redacted(journal, redactor);
  EXPECT_THAT(all, Not(HasSubstr("kim")));
  EXPECT_THAT(all, Not(HasSubstr("KIM")));
  for (const char* kept : {"2.15.0", "Apple M4"}) EXPECT_THAT(all, HasSubstr(kept));
}

TEST(JournalRedaction, WhatAJournalHasLostKeepsNoNameAndStaysApart) {
  SampleJournal sample;
  sample.plan("sim/linear/graph/threads=2").ran(3);
  for (size_t i = 0; i < 3; ++i) {
    sample.journal.trials[i].processes[0].hello = HelloEvent{2, i < 2 ? "of kim" : "of others"};
  }
  Redactor redactor(true);
  EXPECT_THAT(redacted(sample.journal, redactor), Not(HasSubstr("of kim")));
  const auto named = [&](size_t i) {
    return sample.journal.trials[i].processes[0].hello->provenance;
  };
  EXPECT_EQ(named(0), named(1));
  EXPECT_NE(named(1), named(2));
  EXPECT_FALSE(sample.journal.provenances.contains(named(0)));
}

TEST(JournalRedaction, OperationsAndVariablesOfCellsThatNobodyKnowsGetNamesOfOurs) {
  const std::string planted =
      "cpu/test_login_janeplanted/default/threads=2/env=OMP_NUM_THREADS=4+PLANTEDMODE=ottoplanted";
  SampleJournal sample;
  sample.plan(planted).ran(2, 1);
  sample.plan("cpu/linear/default/threads=2").ran(1, 0);
  Journal journal = sample.journal;
  for (TrialRecord& trial : journal.trials) trial.before = planted;
  Redactor redactor = with_small_library();
  const std::string all = redacted(journal, redactor);
  for (const char* personal : {"janeplanted", "ottoplanted", "PLANTEDMODE"}) {
    EXPECT_THAT(all, Not(HasSubstr(personal)));
  }
  EXPECT_EQ(to_string(journal.trials[0].cell),
            "cpu/operation_1/default/threads=2/env.OMP_NUM_THREADS=4/env.VARIABLE_2=value_3");
  EXPECT_EQ(journal.trials[0].before, to_string(journal.trials[0].cell));
  EXPECT_EQ(journal.header.cells.cell(0), journal.trials[0].cell);
  EXPECT_EQ(to_string(journal.header.cells.cell(1)), "cpu/linear/default/threads=2");
}

}  // namespace
}  // namespace mpsprobe
