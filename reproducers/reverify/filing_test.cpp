#include "reproducers/reverify/filing.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "harness/input/input_error.h"
#include "reports/writers/atomic_file.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class Filing : public testing::Test {
 protected:
  Filing() {
    char pattern[] = "/tmp/mpsprobe-filing-XXXXXX";
    folder_ = mkdtemp(pattern);
  }
  ~Filing() override { fs::remove_all(folder_); }

  fs::path bundle(const std::string& name, const std::string& signature = "a failure") const {
    const fs::path folder = folder_ / name;
    fs::create_directories(folder);
    BundleRecord record;
    record.signature = signature;
    record.measured = "2026-01-31T12:00:00.000Z";
    BundleCell cell;
    cell.cell = parse_cell("mps/linear/nograph/threads=3");
    cell.failures = cell.trials = 1;
    record.cells = {cell};
    std::ofstream(folder / "bundle.json") << bundle_record_json(record);
    return folder;
  }

  static void write(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }
  static std::string read(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }

  fs::path folder_;
};

Verification verification(const std::string& started) {
  Verification result;
  result.started = started;
  return result;
}

TEST_F(Filing, ANumberIsNotedAndReplaced) {
  const fs::path folder = bundle("one");
  EXPECT_EQ(noted_filing(folder), "");
  note_filing(folder, "FB12345678");
  note_filing(folder, "pytorch/pytorch#197805");
  EXPECT_EQ(noted_filing(folder), "pytorch/pytorch#197805");
  EXPECT_EQ(read(folder / "filing.txt"), "pytorch/pytorch#197805\n");
}

TEST_F(Filing, WhatIsNoNumberIsRefused) {
  const fs::path folder = bundle("one");
  for (const std::string& text : {std::string(), std::string(" FB1"), std::string("FB1\n"),
                                  std::string("\x1b[2J"), std::string(201, 'F')}) {
    EXPECT_THROW(note_filing(folder, text), InputError) << text;
  }
  EXPECT_FALSE(fs::exists(folder / "filing.txt"));
  write(folder / "filing.txt", "\x1b[2J\n");
  EXPECT_EQ(noted_filing(folder), "");
  write(folder / "filing.txt", std::string(10'000, 'F'));
  EXPECT_EQ(noted_filing(folder), "");
}

TEST_F(Filing, ALinkInABundleLeadsNowhere) {
  const fs::path folder = bundle("one");
  write(folder_ / "secret", "mine");
  fs::create_symlink(folder_ / "secret", folder / "filing.txt");
  EXPECT_EQ(noted_filing(folder), "");
  note_filing(folder, "FB1");
  EXPECT_EQ(read(folder_ / "secret"), "mine");
  EXPECT_EQ(noted_filing(folder), "FB1");

  fs::create_directory(folder_ / "elsewhere");
  fs::create_directory_symlink(folder_ / "elsewhere", folder / "verified");
  EXPECT_THROW(keep_verification(folder, verification("2026-02-01T00:00:00.000Z")), ReportError);
  EXPECT_TRUE(fs::is_empty(folder_ / "elsewhere"));
}

TEST_F(Filing, AJournalDoesNotSayWhereToWrite) {
  const fs::path folder = bundle("one");
  keep_verification(folder, verification("../../../escaped"));
  keep_verification(folder, verification(""));
  for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
    EXPECT_THAT(entry.path().string(), testing::StartsWith(folder.string())) << entry.path();
  }
  EXPECT_FALSE(fs::exists("/tmp/escaped.json"));
  EXPECT_TRUE(fs::exists(folder / "verified" / "verify.json"));
}

TEST_F(Filing, BundlesAreFoundWithTheirNumberAndLastVerdict) {
  const fs::path one = bundle("run/feedback/one", "first failure");
  bundle("run/feedback/two");
  note_filing(one, "FB1");
  keep_verification(one, verification("2026-02-01T00:00:00.000Z"));
  Verification later = verification("2026-03-01T00:00:00.000Z");
  later.conclusion.finding = RecheckFinding::still_fails;
  keep_verification(one, later);
  write(one / "verified" / "9999.json", "no verdict");
  const FoundBundles found = find_bundles({folder_ / "run", folder_, folder_ / "missing"});
  ASSERT_THAT(found.bundles, SizeIs(2));
  EXPECT_EQ(found.bundles[0].signature, "first failure");
  EXPECT_EQ(found.bundles[0].filing, "FB1");
  EXPECT_EQ(found.bundles[0].verdict.value().verified, "2026-03-01T00:00:00.000Z");
  EXPECT_EQ(found.bundles[0].verdict.value().words, "still fails");
  EXPECT_EQ(found.bundles[1].filing, "");
  EXPECT_FALSE(found.bundles[1].verdict.has_value());
  EXPECT_FALSE(found.bounded);
}

TEST_F(Filing, TheSearchIsBoundedAndFollowsNoLinks) {
  bundle("a/b/c/d/e");
  bundle("1/2/3/4/5/6/7");
  bundle(".hidden/one");
  fs::create_directory(folder_ / "links");
  fs::create_directory_symlink(folder_ / "a", folder_ / "links" / "a");
  fs::create_directory_symlink("/", folder_ / "links" / "root");
  FoundBundles found = find_bundles({folder_});
  ASSERT_THAT(found.bundles, SizeIs(1));
  EXPECT_EQ(found.bundles[0].folder, folder_ / "a/b/c/d/e");
  EXPECT_TRUE(found.bounded);
  found = find_bundles({folder_ / "links"});
  EXPECT_THAT(found.bundles, IsEmpty());
  EXPECT_FALSE(found.bounded);
}

TEST_F(Filing, ARecordThatIsNoneIsNamedAndSkipped) {
  fs::create_directories(folder_ / "broken");
  write(folder_ / "broken" / "bundle.json", "{}");
  bundle("good");
  const FoundBundles found = find_bundles({folder_});
  EXPECT_THAT(found.bundles, SizeIs(1));
  EXPECT_THAT(found.skipped, ElementsAre(HasSubstr("is no record of a bundle")));
}

TEST_F(Filing, ABundleThatCannotBeWrittenIsNamed) {
  try {
    keep_verification(folder_ / "missing", verification("2026-02-01T00:00:00.000Z"));
    FAIL();
  } catch (const ReportError& error) {
    EXPECT_THAT(error.what(), HasSubstr("missing/verified: cannot be made"));
  }
}

}  // namespace
}  // namespace mpsprobe
