#include "reproducers/bundle/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <ctime>

#include "reproducers/bundle/planted_run_for_tests.h"

namespace mpsprobe {
namespace {

using testing::ElementsAre;

TEST(Digest, IsSha256) {
  // The examples of FIPS 180-2, appendix B.1, and of the empty message.
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Archive, HoldsTheFilesSortedInOneFolder) {
  const std::string zip = zip_archive("top", {{"b/2.txt", "two"}, {"a.txt", ""}, {"B", "x"}});
  EXPECT_EQ(zip.substr(0, 4), std::string("PK\x03\x04"));
  EXPECT_THAT(files_of_archive(zip),
              ElementsAre(BundleFile{"top/B", "x"}, BundleFile{"top/a.txt", ""},
                          BundleFile{"top/b/2.txt", "two"}));
}

TEST(Archive, IsTheSameBytesWhereverItIsMade) {
  const std::vector<BundleFile> files{{"a", std::string(100'000, 'x')}, {"b", "y"}};
  ::setenv("TZ", "Pacific/Kiritimati", 1);
  ::tzset();
  const std::string east = zip_archive("top", files);
  ::setenv("TZ", "Pacific/Niue", 1);
  ::tzset();
  const std::string west = zip_archive("top", {files[1], files[0]});
  ::unsetenv("TZ");
  ::tzset();
  EXPECT_EQ(east, west);
  EXPECT_LT(east.size(), 10'000U) << "not compressed";
}

}  // namespace

std::vector<BundleFile> files_of_archive(std::string_view archive) {
  struct archive* reader = archive_read_new();
  archive_read_support_format_all(reader);
  archive_read_support_filter_all(reader);
  archive_read_open_memory(reader, archive.data(), archive.size());
  std::vector<BundleFile> files;
  for (struct archive_entry* entry = nullptr;
       archive_read_next_header(reader, &entry) == ARCHIVE_OK;) {
    std::string bytes(static_cast<size_t>(archive_entry_size(entry)), '\0');
    archive_read_data(reader, bytes.data(), bytes.size());
    files.push_back({archive_entry_pathname(entry), bytes});
  }
  archive_read_free(reader);
  return files;
}

}  // namespace mpsprobe
