#include "harness/pasted_text/pasted_text.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <utility>

#include "harness/outcome/judge.h"
#include "harness/pasted_text/pasted_process.h"

namespace mpsprobe {
namespace {

std::string each_line(std::string_view text, std::string_view front) {
  std::string result;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    result += front;
    result += text.substr(begin, end - begin);
    result += '\n';
    begin = end + 1;
  }
  return result;
}

// As a terminal of that many columns breaks lines, or a page between words.
std::string broken(std::string_view text, size_t width, bool between_words) {
  std::string result;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    const bool fits = end - begin <= width;
    if (!fits) end = between_words ? text.rfind(' ', begin + width) : begin + width;
    result += text.substr(begin, end - begin);
    result += '\n';
    begin = end + (fits || between_words ? 1 : 0);
  }
  return result;
}

TEST(LogPrefix, IsWhatALoggerPutsInFront) {
  const auto rest = [](std::string_view line) { return line.substr(log_prefix_length(line)); };
  for (const char* prefix : {
           "2026-01-02T03:04:05.678Z ",
           "2026-01-02 03:04:05.678901+0100 lanes[12:3456] ",
           "2026-01-02 03:04:05.678 | ERROR    | lanes.pool:take:61 - ",
           "2026-01-02 03:04:05,678 - lanes.pool - ERROR - ",
           "2026-01-02T03:04:05.678901234Z stderr F ",
           "02/Jan/2026 03:04:05 lanes[1] ERR ",
           "2026/01/02 03:04:05 lanes-2 main E ",
           "Jan  2 03:04:05 host lanes[12]: ",
           "lanes-1  | ",
           "4711 stderr | ",
           "[rank0]: ",
           "[1,0]<stderr>:",
           "(Worker pid=12) ",
           "[ERROR] ",
           "> > ",
           "- ",
           "E       ",
           "",
       }) {
    EXPECT_EQ(rest(std::string(prefix) + "the pool is dry").find_first_not_of(' '),
              rest(std::string(prefix) + "the pool is dry").find("the pool is dry"))
        << prefix;
  }
  // What messages begin with.
  for (const char* line : {"ERROR: the pool", "objc[12]: the pool", "lane[0] is", "length(4) must",
                           "12 lanes", "-[Lane take]:12: failed", "[lanes::take] the pool",
                           "libc++abi: the pool", "pool.cpp:12: gone"}) {
    EXPECT_EQ(log_prefix_length(line), 0U) << line;
  }
}

TEST(FailureText, DropsWhatPagesAndTerminalsPutAround) {
  for (const auto& [pasted, printed] : std::initializer_list<std::pair<const char*, const char*>>{
           {"\x1b[31mLaneError\x1b[0m: gone", "LaneError: gone"},
           {"\\u001b[1;31mLaneError\\u001b[0m: gone", "LaneError: gone"},
           {"> one\n>   two\n>\n> three\n", "one\n  two\n\nthree\n"},
           {"    one\n      two\n\n    three\n", "one\n  two\n\nthree\n"},
           {"```text\nno lane\n```\n", "no lane\n"},
           {"<details><summary>log</summary>\nno lane\n</details>\n", "log\nno lane\n\n"},
           {"take\\_lane &quot;three&quot; &amp; four &lt;5&gt;", "take_lane 'three' & four <5>"},
           {"one\n\ntwo\n\n\n\nthree\n\n", "one\ntwo\nthree"},
           {"12: \n12: one\n12: two\n12:\n1/1 Test #12: lanes\n",
            "\none\ntwo\n\n1/1 Test #12: lanes\n"},
           {"ERROR: one\nERROR:   two\nERROR: three\n", "one\n  two\nthree\n"},
           {"C:\\new\\lanes.cpp is gone", "C:\\new\\lanes.cpp is gone"},
       }) {
    std::string text = failure_text(pasted);
    // Blanks at the end of lines tell nothing.
    for (size_t at = text.find(" \n"); at != std::string::npos; at = text.find(" \n")) {
      text.erase(at, 1);
    }
    while (text.starts_with(' ')) text.erase(0, 1);
    EXPECT_EQ(text, printed) << pasted;
  }
}

// A known message tells by itself that it was broken, wherever that was.
TEST(FailureText, MakesAKnownMessageWhole) {
  const std::string message =
      "-[AGXG16GFamilyCommandBuffer take:]:1101: failed assertion `A command encoder is already "
      "encoding to this command buffer'";
  for (size_t at = message.find("A command") + 2; at + 12 < message.size(); ++at) {
    for (const char* front : {"", "   ", "> "}) {
      const std::string pasted = message.substr(0, at) + "\n" + front + message.substr(at) + "\n";
      ProcessRecord process = read_pasted_process(pasted);
      EXPECT_EQ(judge(process).signature,
                "assertion: A command encoder is already encoding to this command buffer")
          << pasted;
    }
  }
}

const char* const kWhole =
    "[lanes] the pool of this device has 17 lanes, of which 12 are held by threads that ended\n"
    "LaneError: every lane that is named in the request was taken by a thread of some other "
    "process, and that one holds it for as long as it runs, which can be quite a while\n"
    "Bye\n";

TEST(FailureText, MakesLinesWholeThatWereBrokenAtAWidth) {
  for (const size_t width : {66, 72, 80}) {
    EXPECT_EQ(failure_text(broken(kWhole, width, true)), kWhole) << width;
    EXPECT_EQ(failure_text(each_line(broken(kWhole, width, true), "> ")), kWhole) << width;
  }
  for (const size_t width : {63, 67, 73, 80}) {
    EXPECT_EQ(failure_text(broken(kWhole, width, false)), kWhole) << width;
  }
  const std::string whole =
      "pool: /lanes/pool.cpp:43: void take_a_lane(int, int, int): Assertion `lane < pool' failed.";
  EXPECT_EQ(failure_text(broken(whole, 80, false)), whole + "\n");
}

TEST(FailureText, LeavesLinesAloneThatEndWhereTheyEnd) {
  for (const std::string& text : {
           std::string(kWhole),
           std::string(),
           std::string("\n\n"),
           std::string("one\ntwo"),
           // Printed again and again, all of one length.
           std::string("/lanes/pool.cu:92: take: block: [0,0,0] Assertion `lane < pool` failed.\n"
                       "/lanes/pool.cu:92: take: block: [1,0,0] Assertion `lane < pool` failed.\n"
                       "/lanes/pool.cu:92: take: block: [2,0,0] Assertion `lane < pool` failed.\n"),
           // Code, and under it what went wrong.
           std::string(
               "  File \"/home/user/lanes/pool.py\", line 12, in take_every_lane_of_it_all\n"
               "    return self.pool.take(self.lane, self.width, self.depth, self.height)\n"
               "LaneError: no lane\n"),
       }) {
    EXPECT_EQ(failure_text(text), text);
  }
}

TEST(PastedProcess, TakesAReportOutOfWhatWasPrinted) {
  const ProcessRecord process = read_pasted_process(
      "no lane of the pool\n\nProcess:               lanes [12]\nCrashed Thread:        0\n\n"
      "Exception Type:        EXC_CRASH (SIGABRT)\n\nThread 0 Crashed:\n"
      "0   lanes    0x18f000 take_lane(int) + 8\n");
  EXPECT_EQ(process.err.head, "no lane of the pool\n\n");
  ASSERT_TRUE(process.crash_report.has_value());
  EXPECT_EQ(process.crash_report->exception, "EXC_CRASH");
  EXPECT_EQ(process.termination, Termination(Signaled{SIGABRT}));
}

TEST(PastedProcess, TakesFramesThatPeopleWriteByHand) {
  for (const char* text :
       {"Segmentation fault\n\nlibtorch_cpu.dylib    lanes::take_all(int)\n"
        "libtorch_cpu.dylib    lanes::run(int)\n",
        "Exception Type:  EXC_BAD_ACCESS (SIGSEGV)\nThread 28 Crashed:: pool\n"
        "0   lanes_B0    lanes::take_all(int) + 344\n1   lanes_B0    lanes::run(int) + 176\n",
        "* thread #2, stop reason = EXC_BAD_ACCESS (code=1, address=0x0)\n"
        "  * frame #0: 0x00000001836ea5a0 lanes`lanes::take_all(int) + 32\n"}) {
    EXPECT_EQ(judge(read_pasted_process(text)).signature, "bad access in lanes::take_all") << text;
  }
}

TEST(PastedProcess, HasNotFailedWhereNothingTellsOfIt) {
  for (const char* text : {"", "all lanes are ready\n", "step 3 of 8\n\nloss 0.3\n"}) {
    EXPECT_EQ(judge(read_pasted_process(text)).outcome, Outcome::pass) << text;
  }
}

// A failure as somebody pasted it, below "source:", "outcome:" and "title:" lines and an empty one.
// MPSPROBE_UPDATE_GOLDEN=1 writes outcome and title.
TEST(PastedIssues, HaveTheOutcomesAndTitlesOfTheirFiles) {
  const std::filesystem::path folder =
      std::filesystem::path(MPSPROBE_SOURCE_DIR) / "harness/pasted_text/testdata/issues";
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    ++files;
    const size_t gap = text.find("\n\n");
    ASSERT_TRUE(text.starts_with("source: ") && gap != std::string::npos) << entry.path();
    const std::string pasted = text.substr(gap + 2);
    const Judgement judgement = judge(read_pasted_process(pasted));
    const std::string header = text.substr(0, text.find('\n')) +
                               "\noutcome: " + std::string(name_of(judgement.outcome)) +
                               "\ntitle: " + judgement.signature;
    if (std::getenv("MPSPROBE_UPDATE_GOLDEN") != nullptr) {
      std::ofstream(entry.path(), std::ios::binary) << header << "\n\n" << pasted;
    } else {
      EXPECT_EQ(text.substr(0, gap), header) << entry.path();
    }
  }
  EXPECT_GT(files, 0U);
}

}  // namespace
}  // namespace mpsprobe
