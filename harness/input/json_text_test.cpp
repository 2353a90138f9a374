#include "harness/input/json_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace mpsprobe {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

TEST(JsonText, IsReadBackAsItWasWritten) {
  const json value{{"a", {1, 2.5, "ü"}}, {"b", nullptr}};
  EXPECT_EQ(json_text(value), R"({"a":[1,2.5,"ü"],"b":null})");
  EXPECT_EQ(parsed_json(json_text(value)), value);
  EXPECT_EQ(parsed_json(ascii_json_text(value, 2)), value);
}

TEST(JsonText, OfNoJsonThrowsOrIsDiscarded) {
  EXPECT_THROW(parsed_json("{"), json::exception);
  EXPECT_TRUE(parsed_if_json("{").is_discarded());
  EXPECT_TRUE(parsed_if_json("").is_discarded());
}

TEST(JsonText, ReplacesBytesThatAreNoUtf8) {
  EXPECT_EQ(json_text(json("a\xff")), "\"a\xef\xbf\xbd\"");
  EXPECT_EQ(ascii_json_text(json("a\xff")), R"("a\ufffd")");
  EXPECT_EQ(valid_utf8("a\xff"), "a\xef\xbf\xbd");
  EXPECT_EQ(valid_utf8("ü\n"), "ü\n");
}

TEST(JsonText, OfADocumentKeepsTheOrderOfItsKeysAndEndsItsLastLine) {
  EXPECT_EQ(json_document(ordered_json{{"b", "ü"}, {"a", 1}}),
            "{\n \"b\": \"\\u00fc\",\n \"a\": 1\n}\n");
}

}  // namespace
}  // namespace mpsprobe
