#include "harness/signature/title.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "harness/journal/record_json.h"
#include "harness/signature/find_failures.h"

namespace mpsprobe {
namespace {

bool is_printable_ascii(std::string_view text) {
  const bool seen = std::none_of(text.begin(), text.end(),
                                 [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; });
  return seen && valid_utf8(std::string(text)) == text;
}

TEST(TitleOf, NamesTheRowsThatMadeIt) {
  const Titled titled = title_of("lane 7 of [2, 3] on mps:0");
  EXPECT_EQ(titled.title, "lane N of [N] on <device>");
  EXPECT_THAT(titled.why, testing::ElementsAre("number", "list", "device"));
  EXPECT_THAT(title_of("no lane is left").why, testing::IsEmpty());
}

TEST(TitleOf, EndsBehindTheSixthWordThatNamesSomething) {
  EXPECT_EQ(title_of("one two of three to four five six seven").title,
            "one two of three to four five six");
  EXPECT_EQ(title_of("one two three four five the of six of the").title,
            "one two three four five the of six");
}

TEST(TitleOf, IsOfTheFirstLineOrOfTheNextWhereThatOnlyAnnouncesIt) {
  EXPECT_EQ(title_of("no lane\nis left").title, "no lane");
  EXPECT_EQ(title_of("cannot take lane:\n  the pool is over").title,
            "cannot take lane: the pool is over");
}

TEST(TitleOf, IsTheSameInEveryKindOfQuotes) {
  const std::string expected = title_of("no lane 'a' in the pool").title;
  for (const char* text : {"no lane `a' in the pool", "no lane \"a\" in the pool",
                           "no lane \xe2\x80\x98"
                           "a\xe2\x80\x99 in the pool"}) {
    EXPECT_EQ(title_of(text).title, expected) << text;
  }
  EXPECT_EQ(title_of("the pool isn't there").title, "the pool isn't there");
}

TEST(TitleBehindLeads, KeepsWhatItNeedsToSayAnything) {
  EXPECT_EQ(title_behind_leads("KeyError: 'lane'").title, "KeyError: lane");
  EXPECT_EQ(title_behind_leads("KeyError: no such lane").title, "no such lane");
  EXPECT_EQ(title_behind_leads("[lanes::take] Unable to map a lane").title,
            "[lanes::take] Unable to map a lane");
}

// What went wrong in two deeds is two bugs.
TEST(TitleBehindLeads, KeepsWhatAProgramWasDoing) {
  EXPECT_NE(title_of_message("upload of weights failed: buffer is too small").title,
            title_of_message("download of results failed: buffer is too small").title);
}

TEST(TitleOf, IsBoundedAndPrintableForAnyBytes) {
  std::mt19937 random(7);
  const std::string alphabet = "aG9f0x<>/.:-[](){}~@% '`\"\n\x1b\xff\xc3_,AGXG16XF+=N";
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    const size_t length = random() % 300;
    for (size_t k = 0; k < length; ++k) {
      text += i % 3 == 0 ? static_cast<char>(random()) : alphabet[random() % alphabet.size()];
    }
    const std::string title = title_behind_leads(text).title;
    ASSERT_TRUE(is_printable_ascii(title)) << title;
    ASSERT_LE(title.size(), 160U);
  }
}

// A localised system, or a program whose author writes another language.
TEST(TitleOf, TellsMessagesInEveryLanguageApart) {
  std::set<std::string> titles;
  const std::vector<std::string> messages{
      "デバイスのメモリが不足しています",
      "コマンドバッファはすでにコミットされています",
      "スレッド3のストリームが見つかりません",
      "设备内存不足",
      "命令缓冲区已经提交",
      "找不到线程的流",
      "Недостаточно памяти устройства",
      "Буфер команд уже отправлен",
      "Не найден поток вычислений",
      "Nicht genügend Gerätespeicher für die Größe",
      "Der Befehlspuffer wurde bereits übergeben",
      "Speicherschutzverletzung in Übergabe",
      "장치 메모리가 부족합니다",
      "ذاكرة الجهاز غير كافية",
      "Gr??e passt nicht",
      "L?nge passt nicht",
  };
  for (const std::string& message : messages) {
    const std::string title = title_of_message(message).title;
    EXPECT_FALSE(title.empty()) << message;
    EXPECT_TRUE(is_printable_ascii(title)) << title;
    titles.insert(title);
  }
  EXPECT_EQ(titles.size(), messages.size());
}

TEST(TitleOf, IsTheSameInEveryLanguageWhateverTheNumbers) {
  EXPECT_EQ(title_of_message("スレッド 3 のストリーム").title,
            title_of_message("スレッド 14 のストリーム").title);
  EXPECT_EQ(title_of_message("Поток 0x7f00aa не найден").title,
            title_of_message("Поток 0x7f55bb не найден").title);
}

TEST(TitleOf, OfATextWhoseLettersWereLostSaysThat) {
  EXPECT_EQ(title_of_message("?????????").title, "a text of 9 characters that were lost");
  EXPECT_NE(title_of_message("????? ?????").title, title_of_message("????? ????").title);
  EXPECT_FALSE(title_of_message("\xff\xfe\xff\xfe\xff").title.empty());
}

TEST(TitleOf, IsCutWhereACharacterBegins) {
  std::string long_text;
  for (int i = 0; i < 100; ++i) long_text += "漢";
  const std::string title = title_of("x" + long_text).title;
  EXPECT_LE(title.size(), 160U);
  EXPECT_TRUE(is_printable_ascii(title));
}

}  // namespace
}  // namespace mpsprobe
