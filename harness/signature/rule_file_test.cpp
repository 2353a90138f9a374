#include "harness/signature/rule_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "harness/input/input_error.h"
#include "harness/signature/find_failures.h"

namespace mpsprobe {
namespace {

using testing::HasSubstr;

constexpr std::string_view kHead = "# Lanes.\nsource https://lanes.example\n\n";

Rules rules_of(const std::string& rows) {
  Rules rules;
  const std::string text = std::string(kHead) + rows;
  read_rules({"lanes.rules", text}, rules);
  return rules;
}

std::string mistake_of(const std::string& text) {
  Rules rules;
  try {
    read_rules({"lanes.rules", text}, rules);
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

TEST(RuleFile, HoldsRowsOfEveryTable) {
  const Rules rules = rules_of(
      "[text exception unwarned]\n"
      "lane-lost within=60   \"exception: lane lost\" \"lane \" \"is lost\"\n"
      "[form assertion]\n"
      "lane-check from-the-line takes-leads  \"lanes: \"  \"LANE_CHECK\" "
      "\"LANE_CHECK\\((.*?)\\)\\n\"\n"
      "[mask anywhere]\nlane-number   \"lane-\\d+\" \"<lane>\"\nlane-end ends-the-title \" at "
      "lane\"\n"
      "[lead]\nlane-tag \"lane: \"\n[noise]\nlane-bar \"=+>\"\n"
      "[line tells-of-trouble]\nlane-trouble \".*?trouble\"\n"
      "[frame ending]\nliblane*`lane_*\n-[Lane release]\nliblane.so`\n"
      "[own]\nlanes::*\n"
      "[misuse]\nliblane.so`lane_abort   \"lanes: misuse\"\n");
  ASSERT_EQ(rules.texts.size(), 2U);
  EXPECT_EQ(rules.texts[0].place, Place::unwarned);
  EXPECT_EQ(rules.texts[0].window, 60U);
  EXPECT_EQ(find_failures("a lane 7 is lost", rules).at(0).title, "exception: lane lost");
  EXPECT_TRUE(rules.texts[1].from_the_line && rules.texts[1].takes_leads);
  EXPECT_TRUE(rules.texts[1].shape->match("LANE_CHECK(a)\n", 0).has_value());
  ASSERT_EQ(rules.masks.size(), 2U);
  EXPECT_EQ(title_of("no xlane-7 left", rules).title, "no x<lane> left");
  EXPECT_EQ(title_of("no lane-7 left", rules).title, "no <lane> left");
  EXPECT_TRUE(rules.masks[1].ends_the_title);
  EXPECT_EQ(rules.leads.at(0).name + rules.noise.at(0).name, "lane-taglane-bar");
  EXPECT_EQ(rules.telling.at(0).rank, Rank::tells_of_trouble);
  ASSERT_EQ(rules.frames.size(), 3U);
  EXPECT_EQ(find_passing_frame("liblane.so.1", "lane_take", rules.frames), &rules.frames[0]);
  EXPECT_EQ(find_passing_frame("prog", "-[Lane release]", rules.frames), &rules.frames[1]);
  EXPECT_EQ(find_passing_frame("liblane.so", "", rules.frames), &rules.frames[2]);
  EXPECT_NE(find_passing_frame("prog", "lanes::take", rules.own), nullptr);
  EXPECT_EQ(rules.misuses.at(0).title, "lanes: misuse");
}

TEST(RuleFile, RefusesWhatIsNoRow) {
  const std::string head(kHead);
  const auto refused = [&](const std::string& rows, const char* words) {
    EXPECT_THAT(mistake_of(head + rows), HasSubstr(words)) << rows;
  };
  EXPECT_THAT(mistake_of("[lead]\n"), HasSubstr("lanes.rules:1: the file names no source"));
  EXPECT_THAT(mistake_of("source lanes\n"), HasSubstr("'lanes' is no source"));
  refused("a \"b\"\n", "lanes.rules:4: a row stands above the first heading");
  refused("[lead]\na \"b\"\n\n# again\na \"c\"\n", "lanes.rules:8: 'a' names two rows");
  refused("[lead\n", "the heading has no end");
  refused("[lane]\na \"b\"\n", "'lane' names no table");
  refused("[text]\na \"b\" \"c\"\n", "the heading names no class");
  refused("[text assertion]\na \"b\"\n", "the row has no fragment");
  refused("[text assertion]\na \"b\" \"\"\n", "the fragment is too short");
  refused("[text assertion]\na \"b\" \"cc\" \"dd\" \"ee\" \"ff\" \"g\"\n", "a text too many");
  refused("[text assertion]\na within=b \"b\" \"cc\"\n", "'within=' takes a number");
  refused("[text assertion mute]\na \"b\" \"cc\"\n", "'mute' is no flag here");
  refused("[form assertion]\na \"b\" \"cc\"\n", "the row has no shape");
  refused("[form assertion]\na \"b\" \"\" \"c\"\n", "the fragment is too short");
  refused("[mask]\nA \"b\"\n", "'A' is no name");
  refused("[mask]\na \"b\n", "a text has no end");
  refused("[lead]\na \"b(c\"\n", "lanes.rules:5: missing closing parenthesis at character 4");
  refused("[line loud]\na \"b\"\n", "the heading names no rank");
  refused("[frame passing]\nabort\n", "the heading names no meaning");
}

// A file that the build does not know is no rule.
TEST(RuleFile, IsPartOfTheProgram) {
  std::set<std::string> known;
  for (const RuleFile& file : rule_files()) known.emplace(file.name);
  const std::filesystem::path folder = std::filesystem::path("harness/signature/rules");
  for (const auto& entry : std::filesystem::directory_iterator(MPSPROBE_SOURCE_DIR / folder)) {
    EXPECT_TRUE(known.contains((folder / entry.path().filename()).string())) << entry.path();
  }
  EXPECT_EQ(Rules::standard().texts.empty(), false);
}

}  // namespace
}  // namespace mpsprobe
