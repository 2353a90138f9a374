// Names, numbers and keys in here and in testdata are nobody's.
#include "reproducers/bundle/redaction/known_text.h"

#include <gmock/gmock.h>

#include "harness/signature/find_failures.h"
#include "harness/signature/known_lines.h"
#include "reproducers/bundle/redaction/planted_texts.h"
#include "reproducers/bundle/redaction/redactor.h"
#include "reproducers/bundle/redaction/vocabulary.h"

namespace mpsprobe {
namespace {

/// What of a planted text is left in `shown`; empty: nothing.
std::string left_of(const PlantedText& planted, const std::string& shown) {
  for (const std::string& personal : planted.personal) {
    if (shown.find(personal) != std::string::npos) return personal;
  }
  return "";
}

/// Of every planted text of which something is left wherever `shown_at` puts it: what it became.
template <typename ShownAt>
std::vector<std::string> planted_texts_left_in(const ShownAt& shown_at) {
  std::vector<std::string> left;
  for (const PlantedText& planted : all_planted_texts()) {
    for (const std::string& shown : shown_at(planted.text)) {
      const std::string personal = left_of(planted, shown);
      if (personal.empty()) continue;
      left.push_back(planted.kind + ": " + personal + " in " + shown);
      break;
    }
  }
  return left;
}

/// As an exception, an assertion and a traceback of Python tell of it, which rules read.
std::vector<std::string> told_by_failures(const std::string& text) {
  return {"terminate called after throwing an instance of 'std::runtime_error'\n  what():  " + text,
          "Assertion failed: (" + text + "), function f, file a.mm",
          "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nValueError: " + text};
}

TEST(KnownText, HoldsNoPlantedTextWhereverItStands) {
  EXPECT_GE(all_planted_texts().size(), 783U);
  const auto left = planted_texts_left_in([](const std::string& text) {
    PersonalStrings strings;
    Redactor redactor(strings, true);
    std::vector<std::string> shown{redactor.output(text), redactor.output("step 3\n" + text),
                                   redactor.known(text, Names::words)};
    for (const std::string& told : told_by_failures(text)) {
      shown.push_back(redactor.output(told));
      for (const Finding& finding : find_failures(told)) {
        shown.push_back(redactor.known(finding.title, Names::words));
        shown.push_back(redactor.output(finding.excerpt));
      }
    }
    return shown;
  });
  EXPECT_THAT(left, testing::IsEmpty()) << left.size();
}

TEST(KnownText, SpoilsNoTechnicalLine) {
  const std::vector<std::string> lines = technical_lines();
  EXPECT_GE(lines.size(), 695U);
  size_t kept = 0;
  for (const std::string& line : lines) {
    const std::string shown = only_known_lines(line).text;
    kept += shown == line ? 1 : 0;
    const bool left_out = shown.find("left out") != std::string::npos;
    EXPECT_TRUE(shown == line || left_out) << line << "\nbecame " << shown;
    FrameLine frame;
    if (!places_that_rules_read(line).empty() || is_frame_line(line, frame)) {
      EXPECT_EQ(shown, line);
    }
  }
  EXPECT_GE(kept, 583U);
}

TEST(KnownText, SpoilsNoTechnicalLineOfWholeOutput) {
  for (const std::string& line : technical_lines()) {
    PersonalStrings strings;
    Redactor redactor(strings, true, Redactor::Output::whole);
    EXPECT_EQ(redactor.output(line), line);
  }
}

TEST(KnownText, SaysHowManyLinesAreLeftOut) {
  const KnownLines known = only_known_lines(
      "Jane Plantedova trains\nfor otto\n\nMetal API Validation Enabled\nsaved to /Users/jane/x\n");
  EXPECT_EQ(
      known.text,
      "[... 2 lines left out ...]\nMetal API Validation Enabled\n[... 1 line left out ...]\n");
  EXPECT_EQ(known.left_out, 3U);
  EXPECT_EQ(only_known_lines("").text, "");
}

TEST(KnownText, OfATitleKeepsFunctionsWhereItIsMadeOfThem) {
  EXPECT_EQ(only_known("bad access in lanes::Pool::take(int)", Names::symbols),
            "bad access in lanes::Pool::take(int)");
  EXPECT_EQ(only_known("exception: Janes-lab is closed", Names::words),
            "exception: <...> is closed");
  EXPECT_EQ(only_known("jürgen", Names::symbols), "<...>");
}

TEST(KnownText, KeepsPathsOfTheSystemAndTheLastPartOfOthers) {
  EXPECT_EQ(only_known("/usr/lib/libx.so: gone, /opt/jane/libtorch_cpu.so, /srv/jane.py:12",
                       Names::words),
            "/usr/lib/libx.so: gone, */libtorch_cpu.so, */<...>:12");
}

TEST(Vocabulary, KnowsNamesOfTheSoftwareAndNothingThatChanceMade) {
  for (const char* known : {"setComputePipelineState", "AGXG16XFamilyCommandBuffer", "H100", "M4",
                            "0x1f2c4a6b8", "fp16", "512x512", "libtorch_cpu", "threads", "x2"}) {
    EXPECT_TRUE(is_technical_name(known)) << known;
  }
  for (const char* unknown : {"hunter2", "a1b2c3d4e5f6", "C02XK1ABJGH5", "jane", "k4Zp09Qm2x",
                              "01701234567", "deadbeefcafe"}) {
    EXPECT_FALSE(is_technical_name(unknown)) << unknown;
  }
}

TEST(Vocabulary, KeepsAWordThatPeopleAreNamedByInLowerCaseAlone) {
  const auto known = [](const char* text) { return only_known(text, Names::words); };
  EXPECT_EQ(known("will retry on page 3 of lane 5"), "will retry on page 3 of lane 5");
  EXPECT_EQ(known("Will waits, Page failed: PAGE, WILL"),
            "<...> waits, <...> failed: <...>, <...>");
  EXPECT_EQ(known("page_size, will_page, page-lane, will.page, page.cpp"),
            "page_size, <...>, <...>, <...>, <...>");
}

TEST(Vocabulary, KeepsACapitalWithinASentenceWhereRulesWriteIt) {
  EXPECT_EQ(only_known("Clear Path Analytics lost the Command Buffer", Names::words),
            "Clear <...> <...> lost the Command Buffer");
}

TEST(KnownText, KeepsNumbersBehindWordsThatCountAndPlace) {
  EXPECT_EQ(only_known("size 4096, process 4242, order 48213, room 221B", Names::words),
            "size 4096, process 4242, order <...>, room <...>");
}

TEST(KnownText, KeepsFunctionsOfLibrariesAlone) {
  const auto shown = [](const char* text) { return only_known_lines(text).text; };
  for (const char* kept :
       {"frame #4: 0x000000010b1c2d3e libmlx.dylib`mlx::core::planted(int) + 44",
        "#3  0x00007ffff7a5c1d2 in planted_out () from /usr/lib/libtorch_cuda.so"}) {
    EXPECT_EQ(shown(kept), kept);
  }
  EXPECT_EQ(shown("frame #4: 0x000000010b1c2d3e libplanted.dylib`planted::run(int) + 44"),
            "frame #4: 0x000000010b1c2d3e <...>`<...>(int) + 44");
  EXPECT_EQ(only_known("failed in planted::Stream::run", Names::words), "failed in <...>");
}

TEST(WholeOutput, LosesAllButTwoPlantedTexts) {
  const auto left = planted_texts_left_in([](const std::string& text) {
    PersonalStrings strings;
    strings.learn_text(text);
    Redactor redactor(strings, true, Redactor::Output::whole);
    std::vector<std::string> shown{redactor.output(text)};
    for (const std::string& told : told_by_failures(text)) shown.push_back(redactor.output(told));
    return shown;
  });
  EXPECT_LE(left.size(), 2U) << testing::PrintToString(left);
}

}  // namespace
}  // namespace mpsprobe
