// Holds scenarios/backends/mps.cpp to the calls that docs/macos.md names: those that a user's
// program makes. A race of the harness's own making would be told as LibTorch's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

namespace mpsprobe {
namespace {

std::string file(const std::string& name) {
  std::ifstream stream(std::string(MPSPROBE_SOURCE_DIR "/") + name);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::set<std::string> all_of(const std::string& text, const char* expression) {
  std::set<std::string> found;
  const std::regex pattern(expression);
  for (std::sregex_iterator it(text.begin(), text.end(), pattern); it != std::sregex_iterator();
       ++it) {
    found.insert((*it)[1]);
  }
  return found;
}

// What is in code marks in the rows of the section's table.
std::set<std::string> documented() {
  const std::string text = file("docs/macos.md");
  const size_t begin = text.find("## The mps backend's calls");
  // The section's first table.
  const size_t table = text.find("\n| ", begin);
  const std::string section = text.substr(table, text.find("\n\n", table) - table + 1);
  std::string rows;
  for (size_t at = section.find("\n| `"); at != std::string::npos;
       at = section.find("\n| `", at + 1)) {
    rows += section.substr(at, section.find(" | ", at + 3) - at);
  }
  return all_of(rows, "`(?:\\w+::)*(\\w+)`");
}

TEST(MpsCalls, AreThoseOfAUsersProgram) {
  const std::string source =
      std::regex_replace(file("scenarios/backends/mps.cpp"), std::regex("//[^\n]*"), "");
  std::set<std::string> used = all_of(source, "at::mps::(\\w+)");
  used.merge(all_of(source, "(?:getMPSHooks\\(\\)|hooks)\\.(\\w+)\\("));
  used.merge(all_of(source, "stream->(\\w+)\\("));
  used.erase("MPSStream");  // the type
  const std::set<std::string> known = documented();
  EXPECT_GE(known.size(), 12U);
  EXPECT_GE(used.size(), 12U);
  for (const std::string& call : used) {
    EXPECT_TRUE(known.contains(call)) << call << " is not in docs/macos.md: is it a public call?";
  }
  for (const std::string& call : known) {
    EXPECT_TRUE(used.contains(call)) << call << " is in docs/macos.md alone";
  }
}

// Off its queue a stream's encoder is anybody's.
TEST(MpsCalls, AStreamIsSynchronisedOnItsQueueAlone) {
  const std::string source = file("scenarios/backends/mps.cpp");
  const size_t call = source.find("->synchronize(");
  ASSERT_NE(call, std::string::npos);
  EXPECT_EQ(source.find("->synchronize(", call + 1), std::string::npos);
  const size_t dispatched = source.rfind("dispatch_sync_f(stream->queue()", call);
  ASSERT_NE(dispatched, std::string::npos);
  EXPECT_EQ(source.substr(dispatched, call - dispatched).find("});"), std::string::npos);
}

}  // namespace
}  // namespace mpsprobe
