// Names, numbers and keys in here and in testdata/personal.txt are nobody's.
#include <gmock/gmock.h>

#include <map>
#include <stdexcept>

#include "reproducers/bundle/redaction/number_checks.h"
#include "reproducers/bundle/redaction/pattern.h"
#include "reproducers/bundle/redaction/personal_patterns.h"
#include "reproducers/bundle/redaction/planted_texts.h"
#include "reproducers/bundle/redaction/redactor.h"
#include "reproducers/bundle/redaction/software_names.h"

namespace mpsprobe {
namespace {

std::string redacted(const std::string& raw) {
  PersonalStrings strings;
  strings.learn_text(raw);
  return Redactor(strings, true).text(raw);
}

TEST(Patterns, LeaveNothingOfWhatWasPlanted) {
  std::map<std::string, int> spellings;
  for (const PlantedText& planted : planted_texts()) {
    ++spellings[planted.kind];
    ASSERT_FALSE(planted.personal.empty()) << planted.text;
    const std::string clean = redacted(planted.text);
    for (const std::string& personal : planted.personal) {
      EXPECT_EQ(clean.find(personal), std::string::npos)
          << planted.kind << ": " << planted.text << "\nbecame " << clean;
    }
  }
  EXPECT_GE(spellings.size(), 68U);
  for (const auto& [kind, count] : spellings) EXPECT_GE(count, 3) << kind;
}

TEST(Patterns, SpoilNoTechnicalText) {
  const std::vector<std::string> lines = technical_lines();
  EXPECT_GE(lines.size(), 200U);
  for (const std::string& line : lines) EXPECT_EQ(redacted(line), line);
}

TEST(Patterns, SpoilNoTechnicalTextThatStandsBesideEveryPlantedOne) {
  PersonalStrings strings;
  for (const PlantedText& planted : planted_texts()) strings.learn_text(planted.text);
  Redactor redactor(strings, true);
  for (const std::string& line : technical_lines()) EXPECT_EQ(redactor.text(line), line);
}

TEST(Patterns, AreAllReadAndComeFromWhereTheySay) {
  EXPECT_GT(pattern_rows(), 250U);
}

TEST(Patterns, TellWhereAndWhat) {
  const std::vector<PatternHit> hits = find_patterns("x 198.51.100.23 y");
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_EQ(hits[0], (PatternHit{2, 15, PersonalKind::network_address, "IPv4 address"}));
}

TEST(Patterns, TakeNoPartInBytesThatAreNoText) {
  EXPECT_TRUE(find_patterns(std::string("\xff\xfe\x80 abc \xc3", 9)).empty());
  EXPECT_EQ(find_patterns("\xff 198.51.100.23").size(), 1U);
}

TEST(Patterns, AStepLimitIsToldAndNotTakenForNothingFound) {
  const Pattern slow("(a+)+(a+)+[bc]");
  size_t reached = 7;
  EXPECT_FALSE(slow.each(
      std::string(5000, 'a'), [](Pattern::Part, Pattern::Part) {}, &reached));
  EXPECT_EQ(reached, 0U);
  EXPECT_THROW(Pattern("(unclosed"), std::invalid_argument);
}

TEST(NumberChecks, KnowTheirCheckDigits) {
  EXPECT_TRUE(has_luhn_digit("4111 1111 1111 1111"));
  EXPECT_FALSE(has_luhn_digit("4111 1111 1111 1112"));
  EXPECT_TRUE(is_iban("GB82 WEST 1234 5698 7654 32"));
  EXPECT_FALSE(is_iban("GB82 WEST 1234 5698 7654 33"));
  EXPECT_TRUE(is_ipv6_of_a_machine("fe80::1%en0"));
  EXPECT_FALSE(is_ipv6_of_a_machine("::1"));
  EXPECT_FALSE(is_ipv6_of_a_machine("c10::d"));
  EXPECT_NEAR(entropy_of("aabb"), 1.0, 1e-9);
}

TEST(SoftwareNames, AreThoseThatEverybodyHas) {
  for (const char* name :
       {"libtorch_cpu.dylib", "mpsprobe-worker", "python3.12", "libfoo.so.1.2", "x.cpp"}) {
    EXPECT_TRUE(is_name_of_a_file_of_software(name)) << name;
  }
  for (const char* name : {"Tax 2025.cpp", "jane", "plan.xyz", "", "\xc3\xbc.so"}) {
    EXPECT_FALSE(is_name_of_a_file_of_software(name)) << name;
  }
  EXPECT_FALSE(is_software_of_everybody("SecretApp"));
}

}  // namespace
}  // namespace mpsprobe
