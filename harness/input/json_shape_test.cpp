#include "harness/input/json_shape.h"

#include <gtest/gtest.h>

namespace mpsprobe {
namespace {

using Kind = JsonExcess::Kind;

std::optional<Kind> kind_of(std::string_view text, const JsonLimits& limits) {
  const auto excess = json_excess(text, limits);
  return excess ? std::optional(excess->kind) : std::nullopt;
}

TEST(JsonShape, LimitsAreKeptUpToTheLastOfEachKind) {
  const JsonLimits limits{.depth = 2, .values = 8, .keys = 2};
  EXPECT_EQ(kind_of(R"({"a":[1,2,3],"b":2})", limits), std::nullopt);
  EXPECT_EQ(kind_of(R"({"a":[1,2,3,4],"b":2})", limits), Kind::too_many_values);
  EXPECT_EQ(kind_of(R"({"a":[[]]})", limits), Kind::too_deep);
  EXPECT_EQ(kind_of(R"({"a":1,"b":2,"c":3})", limits), Kind::too_many_keys);
}

TEST(JsonShape, AKeyIsRepeatedInItsOwnObjectOnly) {
  EXPECT_EQ(json_excess(R"({"a":{"a":1},"b":{"a":1}})", {}), std::nullopt);
  const auto excess = json_excess(R"([{"a":1},{"b":1,"c":{},"b":2}])", {});
  ASSERT_TRUE(excess);
  EXPECT_EQ(excess->kind, Kind::repeated_key);
  EXPECT_EQ(excess->key, "b");
  EXPECT_EQ(json_excess(R"({"a":1,"a":2})", {.repeated_keys = true}), std::nullopt);
}

TEST(JsonShape, WhatIsNoJsonIsTheParsersToTell) {
  for (const char* text : {"", "{", "[1,", "nonsense", "{\"a\":1}}", "\xff"}) {
    EXPECT_EQ(json_excess(text, {}), std::nullopt) << text;
  }
  EXPECT_EQ(kind_of(std::string(100'000, '['), {}), Kind::too_deep);
}

TEST(JsonShape, BracketsInTextsAreNotDepth) {
  EXPECT_FALSE(nested_deeper(R"({"a":"[[[[\"[[[["})", 2));
  EXPECT_TRUE(nested_deeper(R"({"a":"]]]]","b":[[1]]})", 2));
  EXPECT_FALSE(nested_deeper("[[],[],[]]", 2));
}

}  // namespace
}  // namespace mpsprobe
