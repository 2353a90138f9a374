#include "harness/signature/find_failures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace mpsprobe {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> titles(std::string_view text) {
  std::vector<std::string> result;
  for (const Finding& finding : find_failures(text)) result.push_back(finding.title);
  return result;
}

TEST(FindFailures, OneBugHasOneTitleOnEveryChipInEveryDress) {
  const std::string expected =
      "assertion: A command encoder is already encoding to this command buffer";
  const std::vector<std::string> spellings = {
      "-[AGXG13XFamilyCommandBuffer blitCommandEncoderCommon:]:836: failed assertion `A command "
      "encoder is already encoding to this command buffer'\n",
      "-[AGXG14XFamilyCommandBuffer renderCommandEncoderWithDescriptor:]:380: failed assertion 'A "
      "command encoder is already encoding to this command buffer'",
      "-[AGXG16XFamilyCommandBuffer "
      "tryCoalescingPreviousComputeCommandEncoderWithConfig:nextEncoderClass:]:1091: failed "
      "assertion \xe2\x80\x98"
      "A command encoder is already encoding to this command buffer\xe2\x80\x99\r\n",
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
              ElementsAre("pool.cpp: failed assertion as planned"));
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

// Whatever a text repeats, it comes to an end.
TEST(FindFailures, EndsOnHostileText) {
  std::vector<std::string> pieces = {"failed assertion ",
                                     "]:1: failed assertion 'x",
                                     "'",
                                     "\x1b]8;;",
                                     "<",
                                     "// ",
                                     " INTERNAL ASSERT FAILED at ",
                                     "terminate called after throwing an instance of 'a\n",
                                     "Traceback (most recent call last):\n  x\n",
                                     "1%|",
                                     std::string("\0\xff\xfe\x80", 4)};
  for (const TextRule& rule : Rules::standard().texts) {
    if (rule.shape) pieces.push_back(rule.fragments.front() + " ");
  }
  for (const std::string& piece : pieces) {
    std::string text;
    while (text.size() < 600) text += piece;
    EXPECT_LE(find_failures(text).size(), kMostFindings) << piece;
    EXPECT_LE(last_words(text).title.size(), 320U) << piece;
  }
  std::mt19937 random(11);
  std::string binary(1 << 18, '\0');
  for (char& c : binary) c = static_cast<char>(random());
  EXPECT_THAT(find_failures(binary), IsEmpty());
}

// However it came in: printed, reported as a failure, thrown and not caught.
TEST(TitleOfMessage, IsTheSameAsOfWhatWasPrinted) {
  for (const std::string text :
       {"false INTERNAL ASSERT FAILED at \"/lanes/pool.h\":12, please report a bug to PyTorch. "
        "Unknown lane 12",
        "MPS does not support cumsum op with int64 input", "Invalid KernelDAG",
        "CUDA error: invalid device ordinal"}) {
    const std::string title = title_of_message(text).title;
    EXPECT_EQ(find_failures(text + "\n").at(0).title, title);
    EXPECT_EQ(find_failures("terminate called after throwing an instance of 'c10::Error'\n"
                            "  what():  " +
                            text + "\n")
                  .at(0)
                  .title,
              title);
  }
}

}  // namespace
}  // namespace mpsprobe
