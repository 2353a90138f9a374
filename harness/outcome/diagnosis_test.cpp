#include "harness/outcome/diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "harness/outcome/patterns.h"

namespace mpsprobe {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
namespace fs = std::filesystem;

const fs::path kGolden = fs::path(MPSPROBE_SOURCE_DIR) / "harness/outcome/testdata/diagnosis";

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// What a golden file says above its first empty line: three lines a finding.
std::string header_of(std::string_view text) {
  std::string header;
  for (const Finding& finding : find_failures(text)) {
    header += "class: " + std::string(name_of(finding.text_class)) + "\n";
    header += "title: " + finding.title + "\n";
    header += std::string("known: ") + (finding.known ? "yes" : "no") + "\n";
  }
  return header;
}

struct Golden {
  fs::path path;
  std::string header;
  std::string text;
};

std::vector<Golden> golden_files() {
  std::vector<Golden> files;
  for (const auto& entry : fs::directory_iterator(kGolden)) {
    const std::string content = read_file(entry.path());
    // A negative has no header: its first line is the empty one.
    const size_t gap = content.starts_with("\n") ? 0 : content.find("\n\n") + 1;
    files.push_back({entry.path(), content.substr(0, gap), content.substr(gap + 1)});
  }
  std::sort(files.begin(), files.end(),
            [](const Golden& a, const Golden& b) { return a.path < b.path; });
  return files;
}

std::vector<std::string> titles(std::string_view text) {
  std::vector<std::string> result;
  for (const Finding& finding : find_failures(text)) result.push_back(finding.title);
  return result;
}

bool printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

TEST(GoldenFiles, SayWhatIsFound) {
  size_t negatives = 0;
  const std::vector<Golden> files = golden_files();
  const bool update = std::getenv("MPSPROBE_UPDATE_GOLDEN") != nullptr;
  for (const Golden& golden : files) {
    const std::string header = header_of(golden.text);
    if (update) {
      std::ofstream(golden.path, std::ios::binary) << header << "\n" << golden.text;
    } else {
      EXPECT_EQ(header, golden.header) << golden.path;
    }
    // The name says whether there is anything to find: an update cannot turn that around.
    const bool negative = golden.path.filename().string().starts_with("none-");
    EXPECT_EQ(negative, header.empty()) << golden.path;
    negatives += negative ? 1 : 0;
  }
  EXPECT_GE(files.size(), 125U);
  EXPECT_GE(negatives, 32U);
}

TEST(GoldenFiles, SurviveEscapesCarriageReturnsAndCuts) {
  for (const Golden& golden : golden_files()) {
    std::string dressed;
    for (char c : golden.text) {
      if (c == '\n') dressed += '\r';
      if (c == ' ') dressed += "\x1b[0m";
      dressed += c;
    }
    EXPECT_EQ(header_of(dressed), header_of(golden.text)) << golden.path;
    // Wherever the capture was cut, what is found stays bounded and printable.
    for (size_t cut = 0; cut < golden.text.size(); cut += 7) {
      for (const Finding& finding : find_failures(std::string_view(golden.text).substr(cut))) {
        EXPECT_TRUE(printable(finding.title)) << golden.path;
        EXPECT_LE(finding.title.size(), 160U) << golden.path;
        EXPECT_LE(finding.excerpt.size(), 600U) << golden.path;
      }
    }
  }
}

TEST(Patterns, EveryOneIsFoundByItsOwnFragmentsAlone) {
  for (const Pattern& pattern : patterns()) {
    std::string text;
    for (std::string_view fragment : pattern.fragments) {
      const char* between = pattern.reading == Reading::between ? " alpha " : " ";
      if (!fragment.empty()) text += (text.empty() ? "" : between) + std::string(fragment);
    }
    if (pattern.reading == Reading::quoted) text = "x.mm:7: " + text + " ";
    if (pattern.reading == Reading::before) text = "alpha" + text;
    if (pattern.reading == Reading::quoted || pattern.reading == Reading::thrown)
      text += "'alpha' ";
    if (pattern.reading == Reading::until_failed) text += "alpha' failed";
    if (pattern.reading == Reading::panic) text += "src/lib.rs:7:9:\n";
    text += "alpha";
    bool found = false;
    for (const Finding& finding : find_failures(text)) {
      found = found || finding.title.starts_with(pattern.title);
    }
    EXPECT_TRUE(found) << text;
  }
}

TEST(FindFailures, OneBugHasOneTitleOnEveryChipInEveryDress) {
  const std::string expected =
      "assertion: A command encoder is already encoding to this command buffer";
  const std::vector<std::string> spellings = {
      "-[AGXG13XFamilyCommandBuffer blitCommandEncoderCommon:]:836: failed assertion `A command "
      "encoder is already encoding to this command buffer'\n",
      "-[AGXG14XFamilyCommandBuffer renderCommandEncoderWithDescriptor:]:380: failed assertion 'A "
      "command encoder is already encoding to this command buffer'",
      "-[AGXG16XFamilyCommandBuffer\n"
      "tryCoalescingPreviousComputeCommandEncoderWithConfig:nextEncoderClass:]:1091: failed\n"
      "  assertion \xe2\x80\x98"
      "A command encoder is already\r\n  encoding to this command buffer\xe2\x80\x99",
      "failed assertion \"A command encoder is already encoding to this command buffer\"",
      "2026-01-02 03:04:05.678 app[12:3456] failed assertion A command encoder is already encoding "
      "to this command buffer at line 12 in -[AGXG17XFamilyCommandBuffer foo]",
  };
  for (const std::string& spelling : spellings) {
    EXPECT_THAT(titles(spelling), ElementsAre(expected)) << spelling;
  }
}

TEST(FindFailures, AnUnknownAssertionHasOneTitleOnEveryChip) {
  const auto spelling = [](const std::string& chip, const std::string& line,
                           const std::string& open, const std::string& close) {
    return "-[" + chip + "FamilyBuffer setPurgeable:]:" + line + ": failed assertion " + open +
           "heap " + chip + "FamilyHeap at 0x1f" + line + " holds " + line + " buffers" + close +
           "\n";
  };
  const std::vector<std::string> expected = {"assertion: heap AGXFamilyHeap at N holds N buffers"};
  EXPECT_EQ(titles(spelling("AGXG13X", "12", "`", "'")), expected);
  EXPECT_EQ(titles(spelling("AGXG17P", "8801", "'", "'")), expected);
  EXPECT_EQ(titles(spelling("AGXG16S_B0", "3", "\xe2\x80\x9c", "\xe2\x80\x9d")), expected);
  EXPECT_FALSE(find_failures(spelling("AGXG13X", "12", "`", "'"))[0].known);
}

TEST(FindFailures, TellsEachFailureOnceInOrderWithItsOwnLine) {
  const std::string text =
      "all fine so far \x1b[31m\xff\xfe\n"
      "-[IOGPUMetalCommandBuffer validate]:210: failed assertion `commit command buffer with "
      "uncommitted encoder'\n"
      "free(): invalid pointer\n"
      "-[IOGPUMetalCommandBuffer validate]:210: failed assertion `commit command buffer with "
      "uncommitted encoder'\n";
  const std::vector<Finding> findings = find_failures(text);
  ASSERT_THAT(findings, SizeIs(2));
  EXPECT_EQ(findings[0].text_class, TextClass::assertion);
  EXPECT_EQ(findings[0].excerpt,
            "-[IOGPUMetalCommandBuffer validate]:210: failed assertion `commit command buffer with "
            "uncommitted encoder'");
  EXPECT_EQ(text.substr(findings[0].offset, 16), "failed assertion");
  EXPECT_EQ(findings[1].title, "malloc: free(): invalid pointer");
  EXPECT_EQ(findings[1].excerpt, "free(): invalid pointer");
}

TEST(FindFailures, AnExceptionThatQuotesAFormIsToldOnce) {
  // The inner form says more where it is one, and the exception is kept where it is none.
  EXPECT_THAT(titles("terminate called after throwing an instance of 'std::runtime_error'\n"
                     "  what():  pool.cpp:7: failed assertion `slot < 4'\n"),
              ElementsAre("assertion: slot < N"));
  EXPECT_THAT(titles("terminate called after throwing an instance of 'std::runtime_error'\n"
                     "  what():  pool.cpp:7: failed assertion as planned\n"),
              ElementsAre("failed assertion as planned"));
}

TEST(FindFailures, SeesBothEndsOfATextBeyondTheLimit) {
  const std::string text = "free(): invalid pointer\n" + std::string(2 * kMostTextBytes, '.') +
                           "\nLLVM ERROR: out of registers\n";
  const std::vector<Finding> findings = find_failures(text);
  ASSERT_THAT(findings, SizeIs(2));
  EXPECT_EQ(findings[1].title, "LLVM ERROR: out of registers");
  EXPECT_EQ(text.substr(findings[1].offset, 10), "LLVM ERROR");
}

TEST(ClassOfMessage, KnowsWhatIsNoEvidenceAndWhatIs) {
  EXPECT_EQ(class_of_message("MPS backend out of memory (MPS allocated: 17.90 GB, other: 1 GB)"),
            TextClass::out_of_memory);
  EXPECT_EQ(class_of_message("MPS stream pool exhausted: all 31 worker streams are in use"),
            TextClass::out_of_memory);
  EXPECT_EQ(class_of_message("The MPS backend is supported on MacOS 14.0+."),
            TextClass::unsupported);
  EXPECT_EQ(class_of_message("The MPS backend is supported on macOS 15.0+. Current OS version"),
            TextClass::unsupported);
  EXPECT_EQ(class_of_message("MPS command buffer execution failed: Something (000000ff:new)"),
            TextClass::gpu_error);
  EXPECT_EQ(class_of_message("The operator 'aten::foo' is not currently implemented for the MPS "
                             "device. If you want this op to be considered"),
            TextClass::unsupported);
  EXPECT_EQ(class_of_message("Caused GPU Timeout Error (00000002:kIOGPUCommandBufferCallback"
                             "ErrorTimeout)"),
            TextClass::gpu_error);
  EXPECT_EQ(class_of_message("A and B index not found"), TextClass::exception);
  EXPECT_EQ(class_of_message("std::bad_alloc"), TextClass::out_of_memory);
  EXPECT_EQ(class_of_message("mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)"),
            std::nullopt);
  EXPECT_EQ(class_of_message(""), std::nullopt);
}

std::string repeat(std::string_view what, size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += what;
  return text;
}

// Whatever the text repeats, the work stays within a constant per character: it would have to grow
// with the text's length for the search to be anything but linear.
TEST(FindFailures, DoesLinearWorkOnHostileText) {
  std::vector<std::string> pieces = {"failed assertion ",
                                     "]:1: failed assertion ",
                                     "]:1: failed assertion 'x",
                                     "x.mm:1: failed assertion `a'\n",
                                     "'",
                                     "`' \" ",
                                     "\x1b]",
                                     "\x1b[",
                                     "\x1b]8;;",
                                     "<",
                                     "// ",
                                     "a",
                                     "aGX/",
                                     " INTERNAL ASSERT FAILED at ",
                                     "terminate called after throwing an instance of 'a' what(): ",
                                     "malloc: *** error for object 0x1: ",
                                     "command buffer exited with error status ",
                                     "Insufficient Memory (",
                                     std::string("\0\xff\xfe\x80", 4),
                                     "\xf0\x9f",
                                     "\r\n"};
  for (const Pattern& pattern : patterns()) {
    std::string all;
    for (std::string_view fragment : pattern.fragments) all += std::string(fragment) + " ";
    pieces.push_back(all);
    pieces.emplace_back(pattern.fragments[0]);
  }
  const size_t small = 8'000;
  for (const std::string& piece : pieces) {
    size_t work = 0;
    const std::vector<Finding> findings = find_failures(repeat(piece, small), &work);
    EXPECT_LE(findings.size(), kMostFindings);
    EXPECT_LE(work, 32 * small) << piece;
    size_t more = 0;
    find_failures(repeat(piece, 4 * small), &more);
    EXPECT_LE(more, 5 * work) << piece;
  }
  std::mt19937 random(11);
  std::string binary(1 << 20, '\0');
  for (char& c : binary) c = static_cast<char>(random());
  size_t work = 0;
  EXPECT_THAT(find_failures(binary, &work), IsEmpty());
  EXPECT_LE(work, 4 * binary.size());
  EXPECT_THAT(find_failures(repeat("]:1: failed assertion ", 1 << 20), &work), IsEmpty());
  EXPECT_LE(work, 32U << 20);
}

TEST(FindFailures, NeverTellsMoreThanTheLimit) {
  std::string text;
  for (char a = 'a'; a <= 'z'; ++a) {
    for (char b = 'a'; b <= 'z'; ++b) {
      text += "x.mm:7: failed assertion `unknown " + std::string{a, b} + "'\n";
    }
  }
  const std::vector<Finding> findings = find_failures(text);
  ASSERT_THAT(findings, SizeIs(kMostFindings));
  EXPECT_EQ(findings.front().title, "assertion: unknown aa");
}

}  // namespace
}  // namespace mpsprobe
