#include "harness/wire/event.h"

#include <gtest/gtest.h>

namespace mpsprobe {
namespace {

TEST(Event, ComesBackFromItsLine) {
  const FailureEvent failure{"exception", "line one\nline \"two\"", "run", 2, 7, "linear"};
  const auto event = parse_event(to_line(failure));
  ASSERT_TRUE(event && std::holds_alternative<FailureEvent>(*event));
  const auto& back = std::get<FailureEvent>(*event);
  EXPECT_EQ(back.text, failure.text);
  EXPECT_EQ(back.thread, 2);
  EXPECT_EQ(back.iteration, 7);
  EXPECT_EQ(to_line(failure).find('\n'), std::string::npos);
}

TEST(Event, ResultKeepsItsNumbers) {
  const auto event = parse_event(to_line(ResultEvent{40, 0.25, 39, 1, "graph"}));
  ASSERT_TRUE(event && std::holds_alternative<ResultEvent>(*event));
  const auto& result = std::get<ResultEvent>(*event);
  EXPECT_EQ(result.operations, 40U);
  EXPECT_DOUBLE_EQ(result.seconds, 0.25);
  EXPECT_EQ(result.checked, 39U);
  EXPECT_EQ(result.unchecked, 1U);
  EXPECT_EQ(result.observed_path, "graph");
}

TEST(Event, WhatWasObservedComesBack) {
  const auto event = parse_event(to_line(ObservedEvent{214, "foreign-command-buffer: used"}));
  ASSERT_TRUE(event && std::holds_alternative<ObservedEvent>(*event));
  EXPECT_EQ(std::get<ObservedEvent>(*event).calls, 214U);
  EXPECT_EQ(std::get<ObservedEvent>(*event).suspicion, "foreign-command-buffer: used");
  const auto quiet = parse_event(to_line(ObservedEvent{}));
  ASSERT_TRUE(quiet && std::holds_alternative<ObservedEvent>(*quiet));
  EXPECT_EQ(std::get<ObservedEvent>(*quiet).suspicion, "");
}

TEST(Event, BrokenUtf8InTextIsReplacedNotLost) {
  const auto event = parse_event(to_line(FailureEvent{"exception",
                                                      "a\xff"
                                                      "b",
                                                      "run", 0, 0, "mm"}));
  ASSERT_TRUE(event);
  EXPECT_EQ(std::get<FailureEvent>(*event).text,
            "a\xef\xbf\xbd"
            "b");
}

TEST(Event, WhatIsNoEventIsNothing) {
  for (const std::string& line :
       {std::string("{"), std::string("[]"), std::string("null"), std::string("{\"event\":17}"),
        std::string("{\"event\":\"unheard\"}"), std::string(100'000, '['), std::string("\0\x01", 2),
        std::string("{\"event\":\"ready\"}{\"event\":\"ready\"}")}) {
    EXPECT_FALSE(parse_event(line)) << line.substr(0, 40);
  }
}

// With a callback the library's parser takes a minute for it.
TEST(Event, AMegabyteOfEmptyObjectsIsReadLikeAnyOtherLine) {
  std::string list;
  for (int i = 0; i < 300'000; ++i) list += "{},";
  EXPECT_TRUE(parse_event("{\"event\":\"ready\",\"list\":[" + list + "{}]}"));
}

TEST(Event, NumbersOfTheWrongKindOrSizeAreTakenAsAbsent) {
  const auto event = parse_event(
      R"({"event":"result","operations":-3,"seconds":"x","checked":1e300,"unchecked":null})");
  ASSERT_TRUE(event);
  const auto& result = std::get<ResultEvent>(*event);
  EXPECT_EQ(result.operations, 0U);
  EXPECT_EQ(result.seconds, 0);
  EXPECT_EQ(result.checked, 0U);
}

TEST(Event, LongTextIsCut) {
  const auto event =
      parse_event(to_line(FailureEvent{"exception", std::string(300'000, 'x'), "run", 0, 0, "mm"}));
  ASSERT_TRUE(event);
  EXPECT_EQ(std::get<FailureEvent>(*event).text.size(), 65536U);
}

}  // namespace
}  // namespace mpsprobe
