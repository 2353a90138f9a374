// Names, numbers and keys in here and in testdata are nobody's.
#include "reproducers/bundle/redaction/known_text.h"

#include <gmock/gmock.h>

#include "harness/signature/known_lines.h"
#include "reproducers/bundle/redaction/planted_texts.h"
#include "reproducers/bundle/redaction/redactor.h"
#include "reproducers/bundle/redaction/vocabulary.h"

namespace mpsprobe {
namespace {

std::vector<PlantedText> all_planted() {
  std::vector<PlantedText> all = planted_texts();
  const std::vector<PlantedText> others = planted_texts_of_other_kinds();
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

/// What of a planted text is left in `shown`; empty: nothing.
std::string left_of(const PlantedText& planted, const std::string& shown) {
  for (const std::string& personal : planted.personal) {
    if (shown.find(personal) != std::string::npos) return personal;
  }
  return "";
}

TEST(KnownText, HoldsNoPlantedTextWhereverItStands) {
  EXPECT_GE(planted_texts_of_other_kinds().size(), 250U);
  for (const PlantedText& planted : all_planted()) {
    PersonalStrings strings;
    Redactor redactor(strings, true);
    const std::vector<std::string> shown{
        redactor.output(planted.text), redactor.output("step 3\n" + planted.text),
        redactor.known(planted.text, Names::words),
        // In what rules read: the message of an exception, an assertion and a Python traceback.
        redactor.output("terminate called after throwing an instance of 'std::runtime_error'\n"
                        "  what():  " +
                        planted.text),
        redactor.output("Assertion failed: (" + planted.text + "), function f, file a.mm"),
        redactor.output("Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n"
                        "ValueError: " +
                        planted.text)};
    for (const std::string& each : shown) {
      EXPECT_EQ(left_of(planted, each), "")
          << planted.kind << ": " << planted.text << "\nin " << each;
    }
  }
}

TEST(KnownText, SpoilsNoTechnicalLine) {
  const std::vector<std::string> lines = technical_lines();
  EXPECT_GE(lines.size(), 417U);
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
  EXPECT_GE(kept, 300U);
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

TEST(WholeOutput, LosesAtLeast98OfAHundredPlantedTexts) {
  const std::vector<PlantedText> all = all_planted();
  std::vector<std::string> left;
  for (const PlantedText& planted : all) {
    PersonalStrings strings;
    strings.learn_text(planted.text);
    const std::string shown = Redactor(strings, true, Redactor::Output::whole).output(planted.text);
    if (!left_of(planted, shown).empty()) left.push_back(planted.kind + ": " + shown);
  }
  EXPECT_LE(left.size() * 50, all.size()) << testing::PrintToString(left);
}

}  // namespace
}  // namespace mpsprobe
