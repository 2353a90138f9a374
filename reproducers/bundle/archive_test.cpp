#include "reproducers/bundle/archive.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <ctime>

namespace mpsprobe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

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
  EXPECT_THAT(read_archive(zip, 1000),
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

TEST(Archive, SaysWhatIsWrongWithOne) {
  const auto message = [](std::string_view bytes, size_t most) -> std::string {
    try {
      read_archive(bytes, most);
    } catch (const ArchiveError& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_THAT(message("this is no archive", 1000), HasSubstr("libarchive"));
  const std::string zip = zip_archive("top", {{"a", std::string(1000, 'x')}});
  EXPECT_EQ(message(zip, 999), "it holds more than 999 bytes");
  EXPECT_EQ(message(zip, 1000), "none");
}

}  // namespace
}  // namespace mpsprobe
