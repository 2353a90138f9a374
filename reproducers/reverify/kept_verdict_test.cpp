#include <gmock/gmock.h>
#include <unistd.h>

#include "reports/writers/atomic_file.h"
#include "reproducers/reverify/verdict.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class KeptVerdict : public testing::Test {
 protected:
  KeptVerdict() {
    char pattern[] = "/tmp/mpsprobe-verdict-XXXXXX";
    folder_ = mkdtemp(pattern);
  }
  ~KeptVerdict() override { fs::remove_all(folder_); }

  fs::path bundle(const std::string& name) const {
    const fs::path folder = folder_ / name;
    fs::create_directories(folder);
    return folder;
  }

  fs::path folder_;
};

TEST_F(KeptVerdict, ALinkInABundleLeadsNowhere) {
  const fs::path folder = bundle("one");
  fs::create_directory(folder_ / "elsewhere");
  fs::create_directory_symlink(folder_ / "elsewhere", folder / "verified");
  EXPECT_THROW(keep_verdict(folder, "2026-02-01T00:00:00.000Z", "{}"), ReportError);
  EXPECT_TRUE(fs::is_empty(folder_ / "elsewhere"));
}

TEST_F(KeptVerdict, AJournalDoesNotSayWhereToWrite) {
  const fs::path folder = bundle("one");
  keep_verdict(folder, "../../../escaped", "{}");
  keep_verdict(folder, "", "{}");
  for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
    EXPECT_THAT(entry.path().string(), testing::StartsWith(folder.string())) << entry.path();
  }
  EXPECT_FALSE(fs::exists("/tmp/escaped.json"));
  EXPECT_TRUE(fs::exists(folder / "verified" / "verify.json"));
}

TEST_F(KeptVerdict, ABundleThatCannotBeWrittenIsNamed) {
  try {
    keep_verdict(folder_ / "missing", "2026-02-01T00:00:00.000Z", "{}");
    FAIL();
  } catch (const ReportError& error) {
    EXPECT_THAT(error.what(), HasSubstr("Copy the bundle"));
  }
}

}  // namespace
}  // namespace mpsprobe
