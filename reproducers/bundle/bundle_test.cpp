// Names in here are nobody's, and no run was measured: both were made up for the test.
#include "reproducers/bundle/bundle.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "harness/input/input_error.h"
#include "harness/wire/ascii.h"
#include "harness/wire/own_command.h"
#include "reports/hostile_text_for_tests.h"
#include "reproducers/bundle/bundle_place.h"
#include "reproducers/bundle/bundle_record.h"
#include "reproducers/bundle/pages/bundle_texts.h"
#include "reproducers/bundle/planted_run_for_tests.h"
#include "reproducers/minimise/slug.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

std::string file_of(const std::vector<BundleFile>& files, const std::string& end) {
  for (const BundleFile& file : files) {
    if (file.path.ends_with(end)) return file.bytes;
  }
  return "no such file: " + end;
}

std::vector<BundleFile> unpacked(const WrittenBundle& bundle) {
  return files_of_archive(bytes_of(bundle.archive));
}

std::string ascii_lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), ascii::to_lower);
  return text;
}

/// What the InputError said that `write_bundles` threw, or "nothing".
std::string refusal(const fs::path& run, const BundleOptions& options) {
  try {
    write_bundles(run, options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing";
}

TEST(Bundle, HasNoneOfThePlantedStringsAnywhereInItsArchive) {
  const PlantedRun run;
  ASSERT_GE(run.planted().size(), 30U);
  // First that they are there to be found.
  std::string raw;
  for (const BundleFile& file : files_below(run.run())) raw += file.path + "\n" + file.bytes + "\n";
  raw.erase(std::remove(raw.begin(), raw.end(), '\0'), raw.end());
  raw = ascii_lower(raw);
  size_t there = 0;
  for (const std::string& text : run.planted()) {
    if (raw.find(ascii_lower(text)) != std::string::npos) ++there;
  }
  EXPECT_GE(there, 30U);

  const auto bundles = write_bundles(run.run() / "journal.ndjson", run.options());
  ASSERT_EQ(bundles.size(), 1U);
  const std::vector<BundleFile> files = unpacked(bundles[0]);
  ASSERT_EQ(files.size(), 9U);
  for (const BundleFile& file : files) {
    const std::string bytes = ascii_lower(file.path + "\n" + file.bytes);
    for (const std::string& text : run.planted()) {
      EXPECT_EQ(bytes.find(ascii_lower(text)), std::string::npos) << text << " in " << file.path;
    }
  }
  EXPECT_THAT(file_of(files, "/report.json"), HasSubstr("\"model\": \"Mac16,5\""));
  EXPECT_THAT(file_of(files, "/README.md"), HasSubstr("were left out in the whole run"));
  EXPECT_GT(bundles[0].texts_left_out, 20U);
  EXPECT_GT(bundles[0].lines_left_out, 5U);
}

TEST(Bundle, SaysWhatTheRunMeasuredAndNothingElse) {
  const PlantedRun run;
  const auto bundles = write_bundles(run.run(), run.options());
  const std::vector<BundleFile> files = unpacked(bundles.at(0));
  const std::string text = file_of(files, "/issue.md");
  EXPECT_THAT(text, HasSubstr("bad access in Sample::encode"));
  EXPECT_THAT(text, HasSubstr(": MPSNDArrayMatrixMultiplication, linear nograph, 3 threads (macOS "
                              "15.3 (24D60), Mac16,5, LibTorch 2.15.0)"));
  for (const char* part :
       {"Steps to reproduce", "Expected", "Actual", "Configuration", "API misuse",
        "linear nograph, 3 threads: 10 of 10 failed: above 69% with 95% confidence",
        "linear nograph, 2 threads: 0 of 10 failed: below 31% with 95% confidence",
        "- Operating system, build: macOS 15.3 (24D60)", "- Model: Mac16,5",
        "/linear/nograph/threads=3/validation=api: 4 of 10 trials failed by this signature, 0 by "
        "another; the banner of the checks was seen in 10.",
        "/linear/nograph/threads=1/validation=api: 0 of 10 trials failed by this signature, 0 by "
        "another; the banner of the checks was seen in 10. Fewer threads than the failure needs",
        "/linear/nograph/threads=3/observe=rules: 400 calls in 10 trials, none broken.",
        "(yours to write)\n\n"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(file_of(files, "/programs/metal/reproducer.mm"), HasSubstr("int main("));
  EXPECT_THAT(file_of(files, "/README.md"), HasSubstr("3 threads: 10 of 10 failed"));
  EXPECT_THAT(file_of(files, "/README.md"), StartsWith("Everything below was verified"));
  for (const BundleFile& file : files) {
    EXPECT_THAT(file.bytes, Not(HasSubstr("SIMULATED"))) << file.path;
    EXPECT_THAT(file.bytes, Not(HasSubstr("all Apple"))) << file.path;
  }
  const BundleRecord record = read_bundle_record(bundles[0].folder);
  EXPECT_EQ(record.signature, bundles[0].signature);
  EXPECT_EQ(to_string(record.cells.at(0).cell), "mps/linear/nograph/threads=3");
  EXPECT_EQ(record.cells.at(0).failures, 10);
  EXPECT_EQ(record.cells.at(0).build.git_hash, "0a1b2c3d4e5f");
  EXPECT_TRUE(std::any_of(record.cells.begin(), record.cells.end(),
                          [](const BundleCell& cell) { return cell.control; }));
}

TEST(Bundle, IsTheSameBytesTwiceAndItsManifestHolds) {
  const PlantedRun run;
  BundleOptions options = run.options();
  const WrittenBundle first = write_bundles(run.run(), options).at(0);
  options.out = run.folder() / "again";
  const WrittenBundle second = write_bundles(run.run() / "journal.ndjson", options).at(0);
  EXPECT_EQ(bytes_of(first.archive), bytes_of(second.archive));
  const std::string manifest = bytes_of(first.folder / "MANIFEST.sha256");
  std::vector<BundleFile> files = files_below(first.folder);
  std::erase_if(files, [](const BundleFile& file) { return file.path == "MANIFEST.sha256"; });
  EXPECT_EQ(manifest, manifest_of(files, ""));
  EXPECT_THAT(manifest, HasSubstr(sha256(file_of(files, "README.md")) + "  README.md\n"));
  EXPECT_EQ(unpacked(first).size(), files.size() + 1);
}

// What people are told to check with shasum.
TEST(Bundle, InTheGalleryMatchesItsManifest) {
  const fs::path folder = fs::path(MPSPROBE_SOURCE_DIR) / "docs/gallery/simulated-bundle";
  std::ifstream manifest(folder / "MANIFEST.sha256");
  size_t files = 0;
  for (std::string line; std::getline(manifest, line);) {
    if (line.size() < 67 || line.starts_with('#')) continue;
    const std::string file = line.substr(66);
    EXPECT_EQ(sha256(bytes_of(folder / file)), line.substr(0, 64)) << file;
    ++files;
  }
  EXPECT_GT(files, 5U);
}

TEST(Bundle, OfSimulatedEvidenceIsRefusedAndElseMarkedInEveryFile) {
  const PlantedRun run("sim");
  BundleOptions options = run.options();
  const std::string message = refusal(run.run(), options);
  EXPECT_THAT(message, HasSubstr("simulated device"));
  EXPECT_THAT(message, HasSubstr("--allow-simulated"));
  EXPECT_FALSE(fs::exists(run.out()));
  options.allow_simulated = true;
  const WrittenBundle bundle = write_bundles(run.run(), options).at(0);
  EXPECT_THAT(bundle.archive.filename().string(), StartsWith("SIMULATED-"));
  const std::vector<BundleFile> files = unpacked(bundle);
  EXPECT_GT(files.size(), 6U);
  for (const BundleFile& file : files) {
    const bool json = file.path.ends_with(".json");
    const bool program = file.path.find("/programs/") != std::string::npos;
    const std::string first = file.bytes.substr(0, program ? 1000 : file.bytes.find('\n'));
    EXPECT_THAT(json ? file.bytes : first,
                testing::AnyOf(HasSubstr("SIMULATED"), HasSubstr("\"simulated\": true")))
        << file.path;
  }
}

TEST(Bundle, OfAPartOfTheSignaturesIsChosenByTitle) {
  const PlantedRun run;
  BundleOptions options = run.options();
  options.signature = "no such failure";
  EXPECT_THAT(refusal(run.run(), options), HasSubstr("no failure of this run has it"));
  EXPECT_THAT(refusal(run.run(), options), HasSubstr("bad access in Sample::encode"));
  options.signature = "bad access";
  EXPECT_EQ(write_bundles(run.run(), options).size(), 1U);
}

// Cells 0 and 1 are of one operation, which needs the same conditions as that of cell 2.
TEST(Bundle, TellsOfFailuresThatWereSeenNowhereElse) {
  Analysis analysis;
  const auto failed_in = [&analysis](const char* title, std::vector<size_t> cells) {
    SignatureGroup group{.title = title};
    for (const size_t cell : cells) group.cells.push_back({.summary = cell});
    analysis.signatures.push_back(group);
  };
  failed_in("both", {0, 1});
  failed_in("second alone", {1});
  failed_in("of its group", {2});
  failed_in("elsewhere as well", {0, 3});
  FailureGroups groups;
  for (const std::vector<size_t>& cells : {std::vector<size_t>{0, 1}, {2}, {3}}) {
    groups.operations.push_back({.cells = cells});
  }
  groups.groups.push_back({.operations = {0, 1}});
  const auto with = [&](size_t signature) {
    std::vector<std::string> titles;
    for (const SignatureGroup* other : seen_with(analysis, groups, analysis.signatures[signature]))
      titles.push_back(other->title);
    return titles;
  };
  EXPECT_THAT(with(0), testing::ElementsAre("second alone", "of its group"));
  EXPECT_THAT(with(2), testing::ElementsAre("both", "second alone"));
  EXPECT_THAT(with(3), testing::ElementsAre("both", "second alone", "of its group"));
}

TEST(Bundle, OverwritesNothing) {
  const PlantedRun run;
  const WrittenBundle bundle = write_bundles(run.run(), run.options()).at(0);
  const std::string before = bytes_of(bundle.archive);
  EXPECT_THAT(refusal(run.run(), run.options()), HasSubstr("is there already"));
  EXPECT_EQ(bytes_of(bundle.archive), before);
  fs::remove_all(bundle.folder);
  EXPECT_THAT(refusal(run.run(), run.options()), HasSubstr("is there already"));
}

TEST(Bundle, WithoutRedactionSaysSoFirst) {
  const PlantedRun run;
  BundleOptions options = run.options();
  options.redact = false;
  options.redact_strings.clear();
  const WrittenBundle bundle = write_bundles(run.run(), options).at(0);
  EXPECT_THAT(bundle.archive.string(), HasSubstr("not-redacted"));
  EXPECT_THAT(bytes_of(bundle.folder / "README.md"), StartsWith("NOT REDACTED"));
  EXPECT_THAT(bytes_of(bundle.folder / "trials.ndjson"), HasSubstr("plantedlogin01"));
}

TEST(Bundle, RefusesAWordThatItIsWrittenIn) {
  const PlantedRun run;
  BundleOptions options = run.options();
  options.redact_strings = {"threads"};
  EXPECT_THAT(refusal(run.run(), options), HasSubstr("--redact threads"));
  options.redact_strings = {"ab"};
  EXPECT_THAT(refusal(run.run(), options), HasSubstr("too short"));
}

TEST(Bundle, IsNotMisledByWhatLiesInTheRunsFolder) {
  const PlantedRun run;
  run.write("outside.txt", "secret of the machine");
  const std::string below = "run/" + run.reproduction().filename().string();
  const fs::path programs = run.reproduction() / "programs";
  fs::create_symlink(run.folder() / "outside.txt", programs / "metal" / "link.mm");
  fs::create_directory_symlink(run.folder(), programs / "folder");
  ASSERT_EQ(::mkfifo((programs / "metal" / "pipe.mm").c_str(), 0600), 0);
  run.write(below + "/programs/metal/-rf $(reboot) <script>.mm", "int main() {}\n");
  run.write(below + "/programs/metal/huge.mm", std::string(1 << 20, 'x'));
  fs::remove(run.reproduction() / "proofs.json");
  ASSERT_EQ(::mkfifo((run.reproduction() / "proofs.json").c_str(), 0600), 0);
  for (const bool redact : {true, false}) {
    BundleOptions options = run.options();
    options.redact = redact;
    options.redact_strings.clear();
    const WrittenBundle bundle = write_bundles(run.run(), options).at(0);
    std::vector<std::string> names;
    for (const BundleFile& file : unpacked(bundle)) {
      names.push_back(file.path);
      EXPECT_EQ(file.bytes.find("secret of the machine"), std::string::npos) << file.path;
      EXPECT_THAT(file.path, testing::MatchesRegex("[A-Za-z0-9/._-]+"));
      EXPECT_EQ(file.path.find(".."), std::string::npos);
    }
    EXPECT_THAT(names, Contains(testing::EndsWith("programs/metal/reproducer.mm")));
    EXPECT_THAT(names, Not(Contains(HasSubstr("pipe"))));
    EXPECT_THAT(bytes_of(bundle.folder / "README.md"), HasSubstr("proofs.json of the folder"));
  }
}

TEST(Bundle, TakesNoProgramThatWasChangedAndSaysSo) {
  const PlantedRun run;
  BundleOptions options = run.options();
  const std::string below = "run/" + run.reproduction().filename().string();
  const WrittenBundle as_written = write_bundles(run.run(), options).at(0);
  EXPECT_THAT(bytes_of(as_written.folder / "README.md"), HasSubstr("1 of 1 as expected"));
  run.write(below + "/programs/metal/reproducer.mm", "// mine\nint main() { return jane; }\n");
  options.out = run.folder() / "again";
  const WrittenBundle changed = write_bundles(run.run(), options).at(0);
  EXPECT_THAT(bytes_of(changed.folder / "programs/metal/reproducer.mm"), Not(HasSubstr("jane")));
  EXPECT_THAT(bytes_of(changed.folder / "README.md"),
              AllOf(HasSubstr("another one than mpsprobe writes"), Not(HasSubstr("as expected"))));
}

TEST(Bundle, TakesNoMinimumOfAnotherFailureOrBuild) {
  const PlantedRun run;
  Minimum minimum =
      minimum_from_json(nlohmann::json::parse(bytes_of(run.reproduction() / "minimum.json")));
  minimum.signature = "another";
  write_minimum(run.reproduction() / "minimum.json", minimum);
  BundleOptions options = run.options();
  EXPECT_THAT(write_bundles(run.run(), options).at(0).unverified,
              Contains(HasSubstr("it is of another signature")));
  minimum.signature = run.title();
  minimum.build.git_hash = "ffff";
  write_minimum(run.reproduction() / "minimum.json", minimum);
  options.out = run.folder() / "again";
  EXPECT_THAT(write_bundles(run.run(), options).at(0).unverified,
              Contains(HasSubstr("another build of LibTorch")));
  run.write("run/" + run.reproduction().filename().string() + "/minimum.json", "{\"a\":");
  options.out = run.folder() / "third";
  const WrittenBundle third = write_bundles(run.run(), options).at(0);
  EXPECT_THAT(third.unverified, Contains(HasSubstr("was not minimised")));
  EXPECT_THAT(third.unverified, Contains(HasSubstr("minimum.json of the folder")));
}

// Of one's own Python code: a bundle has neither the file nor a line of it.
TEST(Bundle, TakesNoProgramsThatHoldCodeOfTheUser) {
  const PlantedRun run;
  Minimum minimum =
      minimum_from_json(nlohmann::json::parse(bytes_of(run.reproduction() / "minimum.json")));
  minimum.environment = {"MPSPROBE_PYTHON_CODE=/srv/x/app.py::infer"};
  write_minimum(run.reproduction() / "minimum.json", minimum);
  const std::string below = "run/" + run.reproduction().filename().string();
  run.write(below + "/programs/python/app.py", "def infer():\n    return planted_source_line\n");
  BundleOptions options = run.options();
  const WrittenBundle bundle = write_bundles(run.run(), options).at(0);
  for (const BundleFile& file : unpacked(bundle)) {
    EXPECT_EQ(file.bytes.find("planted_source_line"), std::string::npos) << file.path;
  }
  EXPECT_THAT(bytes_of(bundle.folder / "README.md"), HasSubstr("whose file was not packed"));
  options.redact = false;
  options.redact_strings.clear();
  EXPECT_THAT(bytes_of(write_bundles(run.run(), options).at(0).folder / "programs/python/app.py"),
              HasSubstr("planted_source_line"));
}

// As `repro` left it before: with records of programs that nobody can have tried.
TEST(Bundle, OfACommandSaysThatItIsTheReportersOwnAndHowItWasRun) {
  const PlantedRun run("command");
  const fs::path file = run.run() / "journal.ndjson";
  Journal journal = read_journal(file);
  fs::remove(file);
  {
    CampaignHeader header = journal.header;
    header.environment = {to_variable({.words = {"../p/pl", "planted_argument"}})};
    JournalWriter writer(file, header);
    for (TrialRecord& trial : journal.trials) {
      for (ProcessRecord& process : trial.processes) {
        process.hello->provenance = journal.provenances.begin()->second.dump();
      }
      writer.append(trial);
    }
  }
  BundleOptions options = run.options();
  for (const bool redact : {true, false}) {
    options.redact = redact;
    if (!redact) options.redact_strings.clear();
    const fs::path bundle = write_bundles(run.run(), options).at(0).folder;
    const std::string readme = bytes_of(bundle / "README.md");
    EXPECT_THAT(readme, HasSubstr("a program of the reporter's own, which was not packed"));
    EXPECT_THAT(readme, HasSubstr(redact ? " -- COMMAND\n" : " -- ../p/pl planted_argument\n"));
    EXPECT_THAT(readme, HasSubstr("the minimal one"));
    for (const char* other :
         {"programs", "with-code", "###", "LibTorch", "sysdiagnose", "--worker"}) {
      EXPECT_THAT(readme, Not(HasSubstr(other))) << redact;
    }
    EXPECT_FALSE(fs::exists(bundle / "programs"));
  }
}

TEST(Bundle, LeavesRecordsThatAreNestedTooDeepToReadOrCopy) {
  const PlantedRun run;
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  const std::string folder = "run/" + run.reproduction().filename().string();
  BundleOptions options = run.options();
  for (const char* name : {"proofs.json", "minimum.json"}) {
    run.write(folder + "/" + name, deep);
    options.out = run.folder() / name;
    EXPECT_THAT(write_bundles(run.run(), options).at(0).unverified,
                Contains(AllOf(HasSubstr(name), HasSubstr("nested too deep"))));
  }
}

TEST(Bundle, OfHostileTextsIsBoundedAndHarmless) {
  const PlantedRun run;
  const fs::path file = run.run() / "journal.ndjson";
  Journal journal = read_journal(file);
  fs::remove(file);
  std::vector<std::string> texts = hostile_texts();
  texts.push_back("../../../../etc/passwd");
  size_t next = 0;
  for (TrialRecord& trial : journal.trials) {
    if (is_failure(trial.judgement.outcome)) {
      trial.judgement.signature = "bad access: " + texts[1] + texts[3] + texts[5] + texts[7];
    }
    for (ProcessRecord& process : trial.processes) {
      const std::string& text = texts[next++ % texts.size()];
      process.err.head = process.err.tail = process.out.head = text;
      process.err.bytes = process.out.bytes = 100'000'000;
      process.failures = {FailureEvent{text, text, text, 0, 0, text}};
      process.stacks = hostile_stacks(text);
      process.hello->provenance = journal.provenances.begin()->second.dump();
      if (process.crash_report) process.crash_report->file = "../../outside.ips";
    }
  }
  journal.trials.back().processes[0].err.head = std::string(3 << 20, 'L');
  {
    JournalWriter writer(file, journal.header);
    for (const TrialRecord& trial : journal.trials) writer.append(trial);
  }
  const std::vector<BundleFile> before = files_below(run.run());
  const WrittenBundle bundle = write_bundles(run.run(), run.options()).at(0);
  EXPECT_EQ(files_below(run.run()), before);
  size_t total = 0;
  for (const BundleFile& each : unpacked(bundle)) {
    total += each.bytes.size();
    EXPECT_TRUE(is_harmless(each.bytes)) << each.path;
    if (!each.path.ends_with(".md")) continue;
    EXPECT_EQ(each.bytes.find("\n# heading"), std::string::npos) << each.path;
    EXPECT_EQ(each.bytes.find("\n</details>"), std::string::npos) << each.path;
    if (each.path.ends_with("README.md")) {
      EXPECT_EQ(each.bytes.find("</details>"), std::string::npos);
    }
  }
  EXPECT_LT(total, kMostTrialsBytes * 2 + (2U << 20));
  EXPECT_THAT(bytes_of(bundle.folder / "trials.ndjson"), Not(HasSubstr("18446744073709")));
  EXPECT_LE(bytes_of(bundle.folder / "issue.md").size(), kMostTitle + kMostDescription + 1000);
  EXPECT_THAT(bytes_of(bundle.folder / "issue.md"), HasSubstr("(yours to write)"));
}

TEST(Bundle, OfWhatIsNoRunSaysWhatToDo) {
  const PlantedRun run;
  EXPECT_THAT(refusal(run.folder() / "missing", run.options()), HasSubstr("does not exist"));
  EXPECT_THAT(refusal(run.folder(), run.options()), HasSubstr("Name the folder of a run"));
  fs::remove(run.run() / "journal.ndjson");
  ASSERT_EQ(::mkfifo((run.run() / "journal.ndjson").c_str(), 0600), 0);
  EXPECT_THAT(refusal(run.run(), run.options()), HasSubstr("no regular file"));
}

TEST(BundlePlace, AKillLeavesNothingUnderTheName) {
  const PlantedRun run;
  const fs::path parent = run.out();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    BundlePlace place(parent, "x");
    place.write({{"a/b.txt", "half"}});
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_FALSE(fs::exists(parent / "x"));
  EXPECT_FALSE(fs::exists(parent / "x.zip"));
  EXPECT_EQ(files_below(parent).size(), 1U) << "the unfinished one";
  {
    BundlePlace place(parent, "x");
    place.write({{"a/b.txt", "whole"}});
    place.put("archive");
  }
  const std::vector<BundleFile> expected{{"x.zip", "archive"}, {"x/a/b.txt", "whole"}};
  EXPECT_EQ(files_below(parent), expected);
}

TEST(BundlePlace, WritesNothingOutsideOfItself) {
  const PlantedRun run;
  for (const char* path : {"../x", "/tmp/mpsprobe-x", "a/../../x"}) {
    BundlePlace place(run.out(), "x");
    EXPECT_THROW(place.write({{path, "x"}}), std::logic_error) << path;
  }
  EXPECT_THAT(files_below(run.out()), IsEmpty());
}

}  // namespace
}  // namespace mpsprobe
