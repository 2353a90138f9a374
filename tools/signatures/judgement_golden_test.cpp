#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "harness/input/input_error.h"
#include "harness/outcome/judge.h"
#include "harness/pasted_text/pasted_process.h"
#include "harness/pasted_text/pasted_text.h"
#include "harness/signature/find_failures.h"
#include "harness/signature/written_stacks.h"
#include "tools/signatures/corpus_case_for_tests.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

const fs::path kGolden = fs::path(MPSPROBE_SOURCE_DIR) / "harness/outcome/testdata/signatures";
// Lines of the header that say what the judgement has to be; an update writes them anew.
constexpr std::string_view kExpected[] = {"outcome", "signature", "basis",
                                          "known",   "bystander", "also"};

std::string expected_lines(const Judgement& judgement) {
  std::string lines;
  lines += "outcome: " + std::string(name_of(judgement.outcome)) + "\n";
  lines += "signature: " + judgement.signature + "\n";
  lines += "basis: " + std::string(name_of(judgement.basis)) + "\n";
  if (!judgement.known) lines += "known: no\n";
  if (judgement.bystander) lines += "bystander: yes\n";
  for (const OtherFinding& other : judgement.also) {
    lines += "also: " + other.title + (other.known ? "\n" : " (unknown)\n");
  }
  return lines;
}

bool is_expected_line(std::string_view line) {
  return std::any_of(std::begin(kExpected), std::end(kExpected), [&](std::string_view key) {
    return line.starts_with(key) && line.substr(key.size()).starts_with(":");
  });
}

struct Golden {
  fs::path path;
  CorpusCase corpus;
  std::string given;     ///< the lines of the header that describe the case
  std::string expected;  ///< those that describe the judgement
  std::string rest;      ///< from the empty line on
};

std::vector<Golden> golden_files() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(kGolden)) {
    if (entry.is_regular_file()) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Golden> files;
  for (const fs::path& path : paths) {
    std::ifstream in(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    Golden golden{path, read_corpus_case(path.stem().string(), text)};
    const size_t gap = text.find("\n\n") + 1;
    golden.rest = text.substr(gap);
    for (size_t begin = 0; begin < gap;) {
      const size_t end = text.find('\n', begin) + 1;
      const std::string line = text.substr(begin, end - begin);
      (is_expected_line(line) ? golden.expected : golden.given) += line;
      begin = end;
    }
    files.push_back(std::move(golden));
  }
  return files;
}

TEST(GoldenSignatures, AreWhatTheFilesSay) {
  const std::vector<Golden> files = golden_files();
  for (const Golden& golden : files) {
    const std::string lines = expected_lines(judge(golden.corpus.process, golden.corpus.path));
    if (std::getenv("MPSPROBE_UPDATE_GOLDEN") != nullptr) {
      std::ofstream(golden.path, std::ios::binary) << golden.given << lines << golden.rest;
      continue;
    }
    EXPECT_EQ(lines, golden.expected) << golden.path;
  }
  EXPECT_GE(files.size(), 40U);
}

TEST(GoldenSignatures, HoldNothingOfOneRunAlone) {
  for (const Golden& golden : golden_files()) {
    ProcessRecord other = golden.corpus.process;
    other.pid = 4711;
    other.process = 3;
    other.ended_at = 7;
    for (ThreadStack& stack : other.stacks.threads) {
      stack.thread_id += 1000;
      for (StackFrame& frame : stack.frames) {
        frame.offset += 0x40;
        frame.image_id = "77";
        frame.source = "elsewhere.cpp:9";
      }
    }
    for (ThreadPlace& place : other.recorder.threads) place.iteration += 5;
    const Judgement first = judge(golden.corpus.process, golden.corpus.path);
    const Judgement second = judge(other, golden.corpus.path);
    EXPECT_EQ(first.signature, second.signature) << golden.path;
    EXPECT_EQ(first.detail, second.detail) << golden.path;
  }
}

// One text, one title: printed before an abort, reported by a worker that caught it, or written by
// the system into its crash report.
TEST(GoldenSignatures, AreTheSameForATextThatWasPrintedReportedOrInACrashReport) {
  size_t texts = 0;
  for (const Golden& golden : golden_files()) {
    ProcessRecord process = golden.corpus.process;
    const auto* signaled = std::get_if<Signaled>(&process.termination);
    const Judgement printed = judge(process, golden.corpus.path);
    const bool alone =
        !process.crash_report && process.failures.empty() && process.ended_by == EndedBy::nobody;
    if (!alone || signaled == nullptr || printed.basis != Basis::text) continue;
    ++texts;
    const std::string text = process.err.text();
    process.err = {};
    ProcessRecord told = process;
    told.crash_report.emplace().application_info = {text};
    EXPECT_EQ(judge(told, golden.corpus.path).signature, printed.signature) << golden.path;
    // A worker reports a message, where a process may print whatever else around it.
    const bool message = std::count(text.begin(), text.end(), '\n') <= 1;
    if (!message && find_failures(text).empty()) continue;
    ProcessRecord reported = process;
    reported.termination = Exited{0};
    reported.hello.emplace();
    reported.recorder.crash = {};
    FailureEvent failure;
    failure.kind = "exception";
    failure.text = text;
    reported.failures = {failure};
    EXPECT_EQ(judge(reported, golden.corpus.path).signature, printed.signature) << golden.path;
  }
  EXPECT_GE(texts, 12U);
}

// Each line of a text with something in front of it and behind it.
std::string dressed(const std::string& text, std::string_view front, std::string_view back) {
  std::string result;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    result += front;
    result += text.substr(begin, end - begin);
    result += back;
    result += '\n';
    begin = end + 1;
  }
  return result;
}

// As a terminal of that many columns breaks lines.
std::string broken(const std::string& text, size_t width) {
  std::string result;
  size_t column = 0;
  for (const char c : text) {
    const bool whole = (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
    if (c != '\n' && whole && column == width) {
      result += '\n';
      column = 0;
    }
    result += c;
    column = c == '\n' ? 0 : column + (whole ? 1 : 0);
  }
  return result;
}

TEST(GoldenSignatures, AreTheSameHoweverATextCameIn) {
  for (const Golden& golden : golden_files()) {
    const std::string text = golden.corpus.process.err.text();
    // An empty line says where a text ends, and a mark on some lines only is a part of them.
    if (text.find("\n\n") != std::string::npos) continue;
    const std::string signature = judge(golden.corpus.process, golden.corpus.path).signature;
    for (const std::string& other :
         {dressed(text, "", "\r"), dressed(text, "\x1b[31m", "\x1b[0m"), dressed(text, "| ", " "),
          dressed(text, "pool-1  | ", ""), dressed(text, "2026-01-02T03:04:05.678Z ", ""),
          dressed(text, "> ", ""), dressed(text, "    ", ""), dressed(text, "\t", ""),
          broken(text, 72), broken(text, 80), dressed(broken(text, 80), "> ", "")}) {
      ProcessRecord process = golden.corpus.process;
      process.err.head = failure_text(other);
      process.err.tail.clear();
      process.err.bytes = process.err.head.size();
      EXPECT_EQ(judge(process, golden.corpus.path).signature, signature) << other;
    }
  }
}

TEST(CorpusCase, ReadsFramesAsTheyAreWritten) {
  const auto check = [](const char* line, const char* image, const char* function) {
    const StackFrame frame = frame_by_hand(line);
    EXPECT_EQ(frame.image, image) << line;
    EXPECT_EQ(frame.function, function) << line;
  };
  check("libtorch_cpu.so  at::linear(int) + 32", "libtorch_cpu.so", "at::linear(int)");
  check("0   libobjc.A.dylib   \t   0x18f2b5020 objc_msgSend + 32", "libobjc.A.dylib",
        "objc_msgSend");
  check("  * frame #0: 0x00000001836ea5a0 libobjc.A.dylib`objc_msgSend + 32", "libobjc.A.dylib",
        "objc_msgSend");
  check("Metal\t-[_MTLCommandBuffer commit] + 4", "Metal", "-[_MTLCommandBuffer commit]");
  check("Google Chrome  main + 4", "Google Chrome", "main");
  check("12  AGXMetalG16X  0x1f000 0x1e000 + 4096", "AGXMetalG16X", "");
  check("AGXMetalG16X  ???", "AGXMetalG16X", "");
  check("AGXMetalG16X", "AGXMetalG16X", "");
  EXPECT_THROW(read_corpus_case("x", "bug: a\n\n--- text\n"), InputError);
  EXPECT_THROW(read_corpus_case("x", "what was printed\n"), InputError);
  EXPECT_THROW(read_corpus_case("x", "bug: a\nkind: failure\nsignal: SIGFOO\n"), InputError);
}

}  // namespace
}  // namespace mpsprobe
