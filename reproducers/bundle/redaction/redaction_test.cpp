// Names in here are nobody's: they were made up for the test.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "harness/crash_report/fixture.h"
#include "harness/crash_report/ips.h"
#include "harness/journal/header_json.h"
#include "harness/journal/trial_json.h"
#include "reports/hostile_text.h"
#include "reports/sample_journal.h"
#include "reports/words/safe_text.h"
#include "reproducers/bundle/planted_run.h"
#include "reproducers/bundle/redaction/redact_crash_report.h"
#include "reproducers/bundle/redaction/redact_journal.h"
#include "reproducers/bundle/redaction/text_scan.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class Redaction : public testing::Test {
 protected:
  std::string text(const std::string& raw) {
    strings_.learn_text(raw);
    return Redactor(strings_, true).text(raw);
  }
  /// Everything that a bundle can say of a journal.
  std::string redacted(Journal& journal, Redactor& redactor) {
    redact_journal(journal, redactor);
    nlohmann::json all{header_to_json(journal.header), journal.provenances};
    for (const auto& [id, images] : journal.image_sets) all.push_back({id, images_to_json(images)});
    for (const TrialRecord& trial : journal.trials) all.push_back(trial_to_json(trial));
    for (const CampaignEnd& end : journal.ends) all.push_back(end_to_json(end));
    return all.dump();
  }
  PersonalStrings strings_;
};

TEST_F(Redaction, TakesEveryTextOfAJournalByItsKind) {
  Journal journal = journal_with("/Users/plantedone/secret.py");
  journal.header.shard = Shard{0, 2};
  journal.header.whole = journal.header.cells;
  for (TrialRecord& trial : journal.trials) {
    for (ProcessRecord& process : trial.processes) {
      // A bundle gives its files names of its own before.
      process.crash_report->file = process.gpu_events[0].file = "crash-1.ips";
      process.termination = NotSpawned{2, "/Users/plantedone/worker: no such file"};
    }
  }
  Redactor redactor(strings_, true);
  EXPECT_THAT(redacted(journal, redactor), Not(HasSubstr("plantedone")));
  const ProcessRecord& process = journal.trials[0].processes[0];
  EXPECT_EQ(process.failures[0].text, "[... 1 line left out ...]");
  EXPECT_EQ(process.crash_report->file, "crash-1.ips");
  EXPECT_EQ(process.crash_report->incident, "");
  EXPECT_TRUE(journal.provenances.contains(process.hello->provenance));
  EXPECT_TRUE(journal.image_sets.contains(process.image_set));
  EXPECT_EQ(journal.trials[0].worker, journal.header.workers[0].name);
}

TEST_F(Redaction, AKeyThatIsNewInAJournalIsLeftOutUntilItsKindIsStated) {
  SampleJournal sample;
  sample.plan("sim/linear/graph/threads=2").ran(1);
  Journal& journal = sample.journal;
  for (nlohmann::json* place :
       {&journal.provenances["build-a"], &journal.header.workers[0].describe["provenance"],
        &journal.header.workers[0].describe, &journal.header.machine}) {
    (*place)["surprise"] = "kim";
    (*place)["torch"]["owner"] = {{"name", "kim"}};
    (*place)["torch"]["version"] = "2.15.0";
    (*place)["device"] = {{"nickname", "kim"}, {"name", "Apple M4"}};
    (*place)["environment"] = {{"NICKNAME", "kim"}, {"PYTORCH_X", "/opt/kim/x.so"}};
    (*place)["symbols"] = {{"_owner", "kim"}, {"_pool", true}};
    (*place)["frameworks"] = {{"Kims", "kim"}};
  }
  Redactor redactor(strings_, true);
  const std::string all = redacted(journal, redactor);
  EXPECT_THAT(all, Not(HasSubstr("kim")));
  for (const char* kept : {"2.15.0", "Apple M4", "PYTORCH_X", "_pool"}) {
    EXPECT_THAT(all, HasSubstr(kept));
  }
  EXPECT_THAT(redactor.left_out().at("provenance"), testing::Contains("frameworks"));
}

TEST_F(Redaction, WhatAJournalHasLostKeepsNoNameAndStaysApart) {
  SampleJournal sample;
  sample.plan("sim/linear/graph/threads=2").ran(3);
  for (size_t i = 0; i < 3; ++i) {
    sample.journal.trials[i].processes[0].hello = HelloEvent{2, i < 2 ? "of kim" : "of others"};
  }
  Redactor redactor(strings_, true);
  EXPECT_THAT(redacted(sample.journal, redactor), Not(HasSubstr("of kim")));
  const auto named = [&](size_t i) {
    return sample.journal.trials[i].processes[0].hello->provenance;
  };
  EXPECT_EQ(named(0), named(1));
  EXPECT_NE(named(1), named(2));
  EXPECT_FALSE(sample.journal.provenances.contains(named(0)));
}

TEST_F(Redaction, OperationsAndVariablesOfCellsThatNobodyKnowsGetNamesOfOurs) {
  const std::string planted =
      "cpu/test_login_janeplanted/default/threads=2/env=OMP_NUM_THREADS=4+PLANTEDMODE=ottoplanted";
  SampleJournal sample;
  sample.plan(planted).ran(2, 1);
  sample.plan("cpu/linear/default/threads=2").ran(1, 0);
  Journal journal = sample.journal;
  for (TrialRecord& trial : journal.trials) trial.before = planted;
  Redactor redactor(strings_, true);
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

TEST_F(Redaction, EveryOperationThatComesWithMpsprobeKeepsItsName) {
  std::ifstream table(fs::path(MPSPROBE_SOURCE_DIR) / "docs/operations.md");
  size_t operations = 0;
  for (std::string line; std::getline(table, line);) {
    if (!line.starts_with("| `")) continue;
    const std::string name = line.substr(3, line.find('`', 3) - 3);
    EXPECT_TRUE(is_known_name(name)) << name;
    ++operations;
  }
  EXPECT_GT(operations, 40U);
}

TEST_F(Redaction, PutsATildeForHomeVolumeAndTemporaryFolders) {
  EXPECT_EQ(text("at /Users/plantedone/a/b/c.py:12: x"), "at ~/*/c.py:12: x");
  EXPECT_EQ(text("/home/plantedtwo"), "~");
  EXPECT_EQ(text("\"/Volumes/Planted Disk/my model.pt\""), "\"~/my model.pt\"");
  EXPECT_EQ(text("/Volumes/Planted Disk/x.pt"), "~/x.pt");
  EXPECT_EQ(text("/private/var/folders/ab/cdefg/T/x"), "~/*/x");
  EXPECT_EQ(text("file:///Users/plantedsix/x"), "file:~/x");
  EXPECT_EQ(text("/root/x/y"), "~/*/y");
  EXPECT_EQ(text("%2FUsers%2Fplantednine%2Fz"), "~");
}

TEST_F(Redaction, ALoadersWordsKeepTheLastPartOfAPath) {
  const auto message = [this](const char* raw) { return Redactor(strings_, true).message(raw); };
  EXPECT_EQ(
      message(
          "/planted/bin/libpool.so: cannot be loaded: libx.so.0: no such file. Run '/planted/x', "
          "or/and (/planted/a b)"),
      "*/libpool.so: cannot be loaded: libx.so.0: no such file. Run '*/<file>', or/and (*/<file> "
      "b)");
  EXPECT_EQ(message("/usr/lib/libpool.so: gone"), "/usr/lib/libpool.so: gone");
  EXPECT_EQ(message("/ is the root / of it"), "/ is the root / of it");
  EXPECT_EQ(message(""), "");
  EXPECT_EQ(Redactor(strings_, false).message("/planted/x"), "/planted/x");
}

TEST_F(Redaction, LeavesWhatNamesNobody) {
  for (const char* kept :
       {"/usr/lib/libSystem.dylib", "/System/Library/Frameworks/Metal.framework/Metal",
        "/Users/Shared/x", "at::native::linear + 1234", "AGXG16XFamilyComputeContext",
        "A1B2C3D4-0000-3000-8000-00000000000E", "24D60", "Mac16,5", "user: the first of two",
        "@rpath/root/x", "libtorch 2.15.0@abc", "home: a place", "incident: two of them"}) {
    EXPECT_EQ(text(kept), kept);
  }
}

TEST_F(Redaction, TakesAwayWhatStandsBehindTellingKeys) {
  EXPECT_EQ(text("\"crashReporterKey\" : \"0A0B-0C\""), "\"crashReporterKey\" : \"<id>\"");
  EXPECT_EQ(text("User ID:         501"), "User ID:         <id>");
  EXPECT_EQ(text("Serial Number (system): PLNTD"), "Serial Number (system): <serial>");
  EXPECT_EQ(text("LOGNAME=plantedname;"), "LOGNAME=<user>;");
}

TEST_F(Redaction, ANameLearnedInOnePlaceIsReplacedInAllOthers) {
  strings_.learn_text("/Users/plantedname/x");
  EXPECT_EQ(text("x-plantedname_2, PLANTEDNAME!"), "x-<user>_2, <user>!");
}

TEST_F(Redaction, AShortNameIsReplacedOnlyWhereItStandsAlone) {
  strings_.add(PersonalKind::user_name, "ann");
  EXPECT_EQ(text("channel of ann and Ann-2"), "channel of <user> and <user>-2");
}

TEST_F(Redaction, AWordThatBundlesAreWrittenInIsReplacedInPathsAlone) {
  strings_.add(PersonalKind::user_name, "metal");
  EXPECT_EQ(text("/Users/metal/x: metal failed"), "~/x: metal failed");
  EXPECT_EQ(strings_.left_out(), 2);
}

TEST_F(Redaction, FindsAHostInTheFormsOfItsName) {
  strings_.add(PersonalKind::host_name, "Planted's Mac Pro");
  strings_.add(PersonalKind::host_name, "plantedbox.lan");
  EXPECT_EQ(text("Planteds-Mac-Pro.local plantedbox PLANTEDBOX.lan"), "<host> <host> <host>");
}

TEST_F(Redaction, TakesTime) {
  // Linear in the text: what a hostile process prints does not hold up the user.
  std::string raw;
  for (int i = 0; i < 20000; ++i) raw += "/Users/a\\/\\/%2f user=\"serialnumber @x.y";
  EXPECT_THAT(text(raw), Not(HasSubstr("/Users/a")));
}

TEST_F(Redaction, TellsThePlatformsNumbersFromIoreg) {
  const auto found = personal_strings_of_ioreg(
      "  \"IOPlatformUUID\" = \"0A0B-PLANTED\"\n  \"IOPlatformSerialNumber\" = \"PLNTD07\"\n");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].text, "PLNTD07");
  EXPECT_EQ(found[1].text, "0A0B-PLANTED");
}

TEST_F(Redaction, KeepsACrashReportThatCanBeReadAndWhatItNeeds) {
  Redactor redactor(strings_, true);
  const PlantedRun run;
  const std::string raw = bytes_of(run.run() / "evidence" / "1-0.ips");
  learn_from_crash_report(raw, strings_);
  const auto clean = redact_crash_report(raw, redactor, "SIMULATED: x");
  ASSERT_TRUE(clean.has_value());
  ASSERT_TRUE(std::holds_alternative<CrashReport>(parse_crash_report(raw)));
  ASSERT_TRUE(std::holds_alternative<CrashReport>(parse_crash_report(*clean)))
      << std::get<Unreadable>(parse_crash_report(*clean)).reason << clean->substr(0, 2000);
  const auto before = std::get<CrashReport>(parse_crash_report(raw));
  const auto after = std::get<CrashReport>(parse_crash_report(*clean));
  EXPECT_EQ(after.os_version, "macOS 15.3 (24D60)");
  EXPECT_EQ(after.model, "Mac16,5");
  EXPECT_EQ(after.pid, before.pid);
  ASSERT_EQ(after.threads.size(), before.threads.size());
  ASSERT_FALSE(after.threads[0].frames.empty());
  EXPECT_EQ(after.threads[0].frames, before.threads[0].frames) << "names, UUIDs and offsets stay";
  EXPECT_EQ(after.incident, "");
  EXPECT_THAT(*clean, HasSubstr("mpsprobe_watermark"));
  EXPECT_THAT(redactor.left_out().at("crash reports"), testing::Contains("crashReporterKey"));
  EXPECT_THAT(redactor.left_out().at("crash reports"), testing::Contains("userID"));
}

TEST_F(Redaction, ReadsTheTextFormOfReportsAndRefusesWhatIsNone) {
  Redactor redactor(strings_, true);
  const std::string raw = fixture("older-macos.crash");
  const auto clean = redact_crash_report(raw, redactor, "");
  ASSERT_TRUE(clean.has_value());
  for (const char* kept : {"User ID:               <id>", "*/mpsprobe-worker", "macOS 11.2 (20D64)",
                           "__ulock_wait + 10", "0x00007fff20404e7e"}) {
    EXPECT_THAT(*clean, HasSubstr(kept));
  }
  for (const char* gone : {"/Users/", "FFB84CBB", "501"}) {
    EXPECT_THAT(*clean, Not(HasSubstr(gone)));
  }
  EXPECT_EQ(redact_crash_report("{}\n{\"a\":1}", redactor, ""), std::nullopt);
}

TEST(Audit, FindsWhatIsHiddenByACoding) {
  const std::vector<PersonalString> strings{{PersonalKind::user_name, "plantedname", false},
                                            {PersonalKind::user_name, "ann", true}};
  const auto found = [&](const std::string& bytes) { return audit_text("x", bytes, strings); };
  const std::vector<std::pair<std::string, std::string>> hidden{
      {"a PlantedName b", "user name"},
      {"a pl\\u0061ntedname b", "user name, as an escape of JSON"},
      {"a pl%61ntedname b", "user name, as an escape of a URL"},
      {std::string("p\0l\0a\0n\0t\0e\0d\0n\0a\0m\0e\0", 22), "user name, in UTF-16"},
      {"eHBsYW50ZWRuYW1leQ==", "user name, in base64"},  // "xplantednamey"
      {"IHh4cGxhbnRlZG5hbWU=", "user name, in base64"},  // " xxplantedname"
      {"of ann.", "user name"},
      {"/Users/x1", "path of a home folder"},
      {"\\/home\\/x1", "path of a home folder, as an escape of JSON"},
      {"/Volumes/Disk", "path of a volume"},
      {"/var/folders/ab/c", "path of a temporary folder"},
      {"\"crashReporterKey\": \"1\"", "crashReporterKey"},
      {"User ID: 501, userID=501", "userID"}};
  for (const auto& [bytes, what] : hidden) {
    const auto hits = found(bytes);
    ASSERT_FALSE(hits.empty()) << bytes;
    EXPECT_EQ(hits.front().what, what) << bytes;
  }
  for (const char* harmless : {"channel", "~/x", "crashReporterKey, userID", "/Users/Shared/x",
                               "\"userID\": \"<id>\"", "planted name"}) {
    EXPECT_TRUE(found(harmless).empty()) << harmless;
  }
  EXPECT_EQ(found("0123 plantedname").front().offset, 5U);
  EXPECT_EQ(audit_text("plantedname.txt", "", strings).front().file, "the name of a file");
}

}  // namespace
}  // namespace mpsprobe
