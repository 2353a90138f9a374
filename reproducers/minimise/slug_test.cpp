#include "reproducers/minimise/slug.h"

#include <gmock/gmock.h>

#include <set>

namespace mpsprobe {
namespace {

using testing::MatchesRegex;
using testing::StartsWith;

TEST(Slug, ReadsLikeTheSignatureAndIsSafeAsAFileName) {
  EXPECT_THAT(slug("assertion: Scheduled handler provided after commit call"),
              MatchesRegex("assertion-scheduled-handler-provided-after-commi-[0-9a-f]{12}"));
}

TEST(Slug, HostileTextStaysInItsFolder) {
  for (const std::string text : {"../../etc/passwd", "/", "", "..", "a\0b", "\xff\xfe", "-rf"}) {
    const std::string name = slug(text);
    EXPECT_THAT(name, MatchesRegex("[a-z0-9]+(-[a-z0-9]+)*")) << text;
    EXPECT_LE(name.size(), 61u);
  }
  EXPECT_LE(slug(std::string(100'000, 'x')).size(), 61u);
}

TEST(Slug, TextsThatReadAlikeHaveNamesOfTheirOwn) {
  const std::set<std::string> names{slug("SIGSEGV in f"), slug("SIGSEGV: in f"),
                                    slug("sigsegv in f"), slug(std::string(90, 'x') + "1"),
                                    slug(std::string(90, 'x') + "2")};
  EXPECT_EQ(names.size(), 5u);
  EXPECT_EQ(slug("SIGSEGV in f"), "sigsegv-in-f-" + slug("SIGSEGV in f").substr(13));
}

}  // namespace
}  // namespace mpsprobe
