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
using testing::HasSubstr;

class Filing : public testing::Test {
 protected:
  Filing() {
    char pattern[] = "/tmp/mpsprobe-filing-XXXXXX";
    folder_ = mkdtemp(pattern);
  }
  ~Filing() override { fs::remove_all(folder_); }

  fs::path bundle(const std::string& name) const {
    const fs::path folder = folder_ / name;
    fs::create_directories(folder);
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

TEST_F(Filing, ANumberIsNotedAndReplaced) {
  const fs::path folder = bundle("one");
  note_filing(folder, "FB12345678");
  note_filing(folder, "pytorch/pytorch#197805");
  EXPECT_EQ(read(folder / "filing.txt"), "pytorch/pytorch#197805\n");
}

TEST_F(Filing, WhatIsNoNumberIsRefused) {
  const fs::path folder = bundle("one");
  for (const std::string& text : {std::string(), std::string(" FB1"), std::string("FB1\n"),
                                  std::string("\x1b[2J"), std::string(201, 'F')}) {
    EXPECT_THROW(note_filing(folder, text), InputError) << text;
  }
  EXPECT_FALSE(fs::exists(folder / "filing.txt"));
}

TEST_F(Filing, ALinkInABundleLeadsNowhere) {
  const fs::path folder = bundle("one");
  write(folder_ / "secret", "mine");
  fs::create_symlink(folder_ / "secret", folder / "filing.txt");
  note_filing(folder, "FB1");
  EXPECT_EQ(read(folder_ / "secret"), "mine");
  EXPECT_EQ(read(folder / "filing.txt"), "FB1\n");

  fs::create_directory(folder_ / "elsewhere");
  fs::create_directory_symlink(folder_ / "elsewhere", folder / "verified");
  EXPECT_THROW(keep_verdict(folder, "2026-02-01T00:00:00.000Z", "{}"), ReportError);
  EXPECT_TRUE(fs::is_empty(folder_ / "elsewhere"));
}

TEST_F(Filing, AJournalDoesNotSayWhereToWrite) {
  const fs::path folder = bundle("one");
  keep_verdict(folder, "../../../escaped", "{}");
  keep_verdict(folder, "", "{}");
  for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
    EXPECT_THAT(entry.path().string(), testing::StartsWith(folder.string())) << entry.path();
  }
  EXPECT_FALSE(fs::exists("/tmp/escaped.json"));
  EXPECT_TRUE(fs::exists(folder / "verified" / "verify.json"));
}

TEST_F(Filing, ABundleThatCannotBeWrittenIsNamed) {
  try {
    keep_verdict(folder_ / "missing", "2026-02-01T00:00:00.000Z", "{}");
    FAIL();
  } catch (const ReportError& error) {
    EXPECT_THAT(error.what(), HasSubstr("Copy the bundle"));
  }
}

}  // namespace
}  // namespace mpsprobe
