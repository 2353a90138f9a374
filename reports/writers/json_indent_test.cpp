#include "reports/writers/json_indent.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace mpsprobe {
namespace {

using nlohmann::json;

TEST(JsonIndent, GivesWhatTheLibraryWouldForTheTree) {
  json all =
      json::array({json::object(), json::array(), 1, -2.5e-300, true, nullptr, "", "{\"[,:"});
  all.push_back({{"a", {{"b", json::array({json::array({1}), json::object()})}}}, {"empty", ""}});
  // Every character of one and two bytes, and the bounds of those of three and four.
  for (uint32_t point = 0; point < 0x800; ++point) {
    std::string text(1, static_cast<char>(point));
    if (point >= 0x80) {
      text = {static_cast<char>(0xc0U | point >> 6), static_cast<char>(0x80U | (point & 0x3fU))};
    }
    all.push_back("x" + text + "y");
  }
  for (const char* text : {"\u0800", "\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0001f600",
                           "\U0010ffff", "a\\\"b\\\\", "\\u0041"}) {
    all.push_back({{text, text}});
  }
  std::string indented;
  append_indented(all.dump(), 0, indented);
  EXPECT_EQ(indented, all.dump(1, ' ', true));
}

}  // namespace
}  // namespace mpsprobe
