#include "reproducers/emit/template_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/input/input_error.h"

namespace mpsprobe {
namespace {

const TemplateValues kValues = {{"yes", "x"}, {"no", ""}, {"lines", "a\n\nb"}};

std::string shown(std::string_view text) {
  return rendered(text, kValues, "here.mustache");
}

TEST(Template, PutsValuesInTheirPlace) {
  EXPECT_EQ(shown("a{{yes}}b{{no}}c"), "axbc");
  EXPECT_EQ(shown(""), "");
}

TEST(Template, IndentsSeveralLinesAsTheirTagAndLeavesNoneOfAnEmptyText) {
  EXPECT_EQ(shown("f {\n  {{lines}}\n  {{no}}\n}\n"), "f {\n  a\n\n  b\n}\n");
}

TEST(Template, ShowsSectionsAndTakesTheirLinesAway) {
  EXPECT_EQ(shown("1\n{{#yes}}\n2 {{yes}}\n{{/yes}}\n{{#no}}\n3 {{unknown}}\n{{/no}}\n4\n"),
            "1\n2 x\n4\n");
  EXPECT_EQ(shown("a{{#no}}b{{/no}}{{^no}}c{{/no}}d"), "acd");
  EXPECT_EQ(shown("{{#yes}}{{^no}}both{{/no}}{{/yes}}\n"), "both\n");
}

TEST(Template, NamesTheFileThatIsBroken) {
  for (const char* broken : {"{{other}}", "{{#yes}}", "{{}}", "{{yes"}) {
    EXPECT_THROW(
        try { shown(broken); } catch (const InputError& error) {
          EXPECT_THAT(error.what(), testing::HasSubstr("here.mustache"));
          throw;
        },
        InputError)
        << broken;
  }
}

}  // namespace
}  // namespace mpsprobe
