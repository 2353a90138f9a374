#include "tools/signatures/pastes/as_written.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace mpsprobe {
namespace {

const char* const kWhole =
    "[lanes] the pool of this device has 17 lanes, of which 12 are held by threads that ended\n"
    "LaneError: every lane that is named in the request was taken by a thread of some other "
    "process, and that one holds it for as long as it runs, which can be quite a while\n"
    "bye\n";

std::string broken_at(std::string_view text, size_t width, bool between_words,
                      std::string_view margin = "") {
  std::string result;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t line = text.find('\n', begin);
    size_t end = line;
    if (line - begin > width) {
      end = between_words ? text.rfind(' ', begin + width) : begin + width;
    }
    result += margin;
    result += text.substr(begin, end - begin);
    result += '\n';
    begin = end + (text[end] == '\n' || between_words ? 1 : 0);
  }
  return result;
}

TEST(AsWritten, MakesLinesWholeThatWereBrokenBetweenWords) {
  for (const size_t width : {66, 72, 80}) {
    EXPECT_EQ(as_written(broken_at(kWhole, width, true)), kWhole) << width;
  }
}

TEST(AsWritten, MakesLinesWholeThatWereBrokenWithinWords) {
  for (const size_t width : {63, 67, 73}) {
    EXPECT_EQ(as_written(broken_at(kWhole, width, false)), kWhole) << width;
  }
}

TEST(AsWritten, MakesALineWholeThatATerminalBrokeOnce) {
  const std::string whole =
      "pool: /lanes/pool.cpp:43: void take_a_lane(int, int, int): Assertion `lane < pool' failed.";
  for (const size_t width : {72, 80}) {
    EXPECT_EQ(as_written(whole.substr(0, width) + "\n" + whole.substr(width) + "\n"), whole + "\n");
  }
  const std::string mark = whole.substr(0, 79) + "3";
  EXPECT_EQ(as_written(mark + "\n)\n"), mark + ")\n");
  EXPECT_EQ(as_written(mark + "\n]<=lane' failed.\n"), mark + "]<=lane' failed.\n");
  // Where the space between two words came to the first column.
  const std::string words = "take: " + std::string(65, 'x') + ".";
  EXPECT_EQ(as_written(words + "\n No lane is left\n"), words + " No lane is left\n");
  EXPECT_EQ(as_written(std::string(68, 'x') + " to \nmatch\n"),
            std::string(68, 'x') + " to match\n");
  const std::string list = whole.substr(0, 78) + "a,";
  EXPECT_EQ(as_written(list + "\n'lane' or 'pool'\n"), list + "\n'lane' or 'pool'\n");
  const std::string shell = whole.substr(0, 80) + "\nlanes.sh: line 3: 12 Aborted\n";
  EXPECT_EQ(as_written(shell), shell);
}

TEST(AsWritten, MakesAMangledNameWholeThatATerminalBroke) {
  const std::string front = std::string(66, 'x') + ": _ZN5lanes4p";
  EXPECT_EQ(as_written(front.substr(1) + "\n3Ool4takeEv\n"), front.substr(1) + "3Ool4takeEv\n");
}

// As an editor or a page does: the title of a message must not end there.
TEST(AsWritten, MakesAMessageWholeThatAPageBrokeOnceBetweenWords) {
  EXPECT_EQ(as_written("terminate called after throwing an instance of 'lanes::Error'\n"
                       "  what():  The pool has no lane that is as wide as the one that was\n"
                       "asked for\n"),
            "terminate called after throwing an instance of 'lanes::Error'\n"
            "  what():  The pool has no lane that is as wide as the one that was asked for\n");
  EXPECT_EQ(as_written("LaneError: the pool has none of the lanes that are as wide (or wider)\n"
                       "as what was asked for\n"),
            "LaneError: the pool has none of the lanes that are as wide (or wider) as what was "
            "asked for\n");
  // Progress is none.
  const std::string progress =
      "warmed up the pool of lanes that is going to be used from here, all\nlanes are ready\n";
  EXPECT_EQ(as_written(progress), progress);
}

TEST(AsWritten, TakesNoWidthFromAWordThatHasNoPlaceToBeBrokenAt) {
  const std::string path = "/" + std::string(90, 'a') + "/lanes.py:12:\n";
  EXPECT_EQ(as_written(path +
                       "E     LaneError: the pool expected that all of the lanes in it are of the\n"
                       "same length.\n" +
                       path +
                       "= there were lanes that were not looked at in this run of the pools\n"
                       "today. =\n"),
            path +
                "E     LaneError: the pool expected that all of the lanes in it are of the same "
                "length.\n" +
                path +
                "= there were lanes that were not looked at in this run of the pools today. =\n");
}

TEST(AsWritten, ReadsPastTheEdgeOfABox) {
  const std::string text = as_written(broken_at(kWhole, 72, true, "\xe2\x94\x82 "));
  EXPECT_NE(text.find("taken by a thread of some other process"), std::string::npos) << text;
}

TEST(AsWritten, LeavesLinesAloneThatEndWhereTheyEnd) {
  for (const std::string& text : {
           std::string(kWhole),
           std::string(),
           std::string("\n\n"),
           std::string("one\ntwo"),
           // Printed again and again, all of one length.
           std::string("/lanes/pool.cu:92: take: block: [0,0,0] Assertion `lane < pool` failed.\n"
                       "/lanes/pool.cu:92: take: block: [1,0,0] Assertion `lane < pool` failed.\n"
                       "/lanes/pool.cu:92: take: block: [2,0,0] Assertion `lane < pool` failed.\n"),
           // Lines that part others.
           std::string(
               "================= the lanes that were looked at today ==================\n"
               "FAILED lanes_of_the_pool.py::test_take_lane_17 - LaneError: the pool has...\n"
               "FAILED lanes_of_the_pool.py::test_take_lane_18 - LaneError: the lane has...\n"),
           // Code, and under it what went wrong.
           std::string(
               "  File \"/home/user/lanes/pool.py\", line 12, in take_every_lane_of_it_all\n"
               "    return self.pool.take(self.lane, self.width, self.depth, self.height)\n"
               "LaneError: no lane\n"),
       }) {
    EXPECT_EQ(as_written(text), text);
  }
}

TEST(AsWritten, DropsWhatCameInOnTheWay) {
  EXPECT_EQ(as_written("\x1b[31mLaneError\x1b[0m: gone"), "LaneError: gone");
  EXPECT_EQ(as_written("one\n\ntwo\n\n\n\nthree\n\n"), "one\ntwo\n\nthree\n");
  EXPECT_EQ(as_written("one\n\ntwo\nthree\n"), "one\n\ntwo\nthree\n");
  EXPECT_EQ(as_written("ERROR: one\nERROR:   two\nERROR:\nERROR: three\n"),
            "one\n  two\n\nthree\n");
  // A function's name is a part of its message.
  EXPECT_EQ(as_written("take_lane: one\ntake_lane: two\ntake_lane: three\n"),
            "take_lane: one\ntake_lane: two\ntake_lane: three\n");
  EXPECT_EQ(as_written("objc[12]: one\nobjc[12]: two\nobjc[12]: three\n"),
            "objc[12]: one\nobjc[12]: two\nobjc[12]: three\n");
}

// As ctest marks what a test printed.
TEST(AsWritten, DropsTheNumberInFrontOfLinesThatStandTogether) {
  EXPECT_EQ(as_written("test 12\n12: \n12: one\n12: two\n12:\n1/1 Test #12: lanes\n"),
            "test 12\n\none\ntwo\n\n1/1 Test #12: lanes\n");
  EXPECT_EQ(as_written("[12:00:01] 3: one\n[12:00:02] 3: two\n[12:00:03] 3: three\n"),
            "one\ntwo\nthree\n");
  EXPECT_EQ(as_written("1: one\n1: two\n2: three\n"), "1: one\n1: two\n2: three\n");
  const char* openmp = "OMP: Error #3: no lane\nOMP: one\nOMP: Hint\n";
  EXPECT_EQ(as_written(openmp), openmp);
}

// A page's "> " and its indentation: what terminals broke, they broke without these.
TEST(AsWritten, DropsWhatAPageQuotesWith) {
  EXPECT_EQ(as_written("> one\n>   two\n>\n> three\n"), "one\n  two\n\nthree\n");
  EXPECT_EQ(as_written("    one\n      two\n\n    three\n"), "one\n  two\n\nthree\n");
  EXPECT_EQ(as_written("\tone\n\t\ttwo\n"), "one\n\ttwo\n");
  EXPECT_EQ(as_written("> one\ntwo\n"), "> one\ntwo\n");
  const std::string plain =
      "lane: the pool of this device has no room left for what this thread asks for\nbye\n";
  const std::string broken = broken_at(plain, 72, false);
  ASSERT_NE(broken, plain);
  EXPECT_EQ(as_written(broken_at(broken, 80, false, "> ")), plain);
  EXPECT_EQ(as_written(broken_at(broken, 80, false, "    ")), plain);
}

// One line that ends in a terminal's last column, and whether the next is the rest of it.
TEST(AsWritten, KnowsTheRestOfALineThatWasBrokenOnce) {
  const auto front = [](std::string_view end) {
    return "pool: " + std::string(80 - 6 - 1 - end.size(), 'x') + ' ' + std::string(end);
  };
  for (const auto& [end, rest] : std::initializer_list<std::pair<const char*, const char*>>{
           {"has (1", "79x14 and 13x20)"},
           {"an err", "or: no lane is left"},
           {"bad_optional", "_access"},
           {"out_of_range", ": vector"},
           {"data type. Ac", "tual: lanes"},
           {"/lanes/pool.", "cc:83] no lane"},
           {"NOT_", "FOUND of it"},
           {"size for non", "-pool lanes"},
           {"a thread can", "'t take one"},
           {"as many as la", "nes[128], not 3"},
           {"told that tor", "ch.take: wants a lane"},
       }) {
    EXPECT_EQ(as_written(front(end) + "\n" + rest + "\n"), front(end) + rest + "\n") << end;
  }
  for (const auto& [end, rest] : std::initializer_list<std::pair<const char*, const char*>>{
           {"of size 100", "1 task failed"},
           {"(3x4 and 5x6)", "child ended"},
           {"the pool's end.", "attempt 0 failed"},
           {"of the pool", "make: *** [Makefile:3] Aborted"},
           {"of the pool", "lanes.sh: line 3: 12 Aborted"},
           {"of type: 1", "Exception raised from take at pool.cpp:12 (most recent call first):"},
       }) {
    const std::string text = front(end) + "\n" + rest + "\n";
    EXPECT_EQ(as_written(text), text) << end;
  }
}

// A terminal that leaves its last column free, and a piece that no word begins with.
TEST(AsWritten, PutsNoSpaceInFrontOfWhatNoWordBeginsWith) {
  const std::string front =
      "pool: no lane left in " + std::string(79 - 22 - 14, 'x') + "/lanes/pool.cc";
  ASSERT_EQ(front.size(), 79U);
  EXPECT_EQ(as_written(front + "\n:12] no lane\n"), front + ":12] no lane\n");
}

// A piece may look like a word, and one line that its author had broken is no witness against many.
TEST(AsWritten, KnowsBreaksWithinWordsByTheirNumber) {
  const std::string whole =
      "LaneError: every lane that is named in the request was taken by a thread of another "
      "process and is not instead of it held by one that has ended before it could give it back "
      "to the pool of this device, which has seventeen lanes in all for everybody\n";
  const std::string broken = broken_at(whole, 72, false);
  ASSERT_GE(std::count(broken.begin(), broken.end(), '\n'), 4);
  EXPECT_EQ(as_written(broken), whole);
}

}  // namespace
}  // namespace mpsprobe
