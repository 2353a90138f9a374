#include "reproducers/emit/parameter_block.h"

#include <gtest/gtest.h>

#include "harness/input/input_error.h"

namespace mpsprobe {
namespace {

constexpr const char* kProgram =
    "// kIn = 1;\n"
    "// ---- parameters: begin\n"
    "constexpr int kIn = 1;  // first; of two\n"
    "constexpr int kInner = 2, kOut = 3;\n"
    "constexpr auto run = [] { return f(1); };\n"
    "constexpr auto build = [](int x) {\n  g();\n  return x;\n};\n"
    "THREADS, ITERATIONS = 4, 10\n"
    "// ---- parameters: end\n"
    "int kIn = 7;\n";

TEST(ParameterBlockTest, ReplacesAValueInTheBlockAndNothingElse) {
  ParameterBlock block(kProgram, "p.cpp");
  block.set("kIn", "5");
  block.set("kInner", "6, kOut = 7");
  block.set("run", "[] { return 2; }");
  block.set("build", "[] { h(); }");
  block.set("THREADS, ITERATIONS", "1, 2");
  EXPECT_EQ(block.text(),
            "// kIn = 1;\n"
            "// ---- parameters: begin\n"
            "constexpr int kIn = 5;  // first; of two\n"
            "constexpr int kInner = 6, kOut = 7;\n"
            "constexpr auto run = [] { return 2; };\n"
            "constexpr auto build = [] { h(); };\n"
            "THREADS, ITERATIONS = 1, 2\n"
            "// ---- parameters: end\n"
            "int kIn = 7;\n");
}

TEST(ParameterBlockTest, SaysWhichParameterIsMissing) {
  ParameterBlock block(kProgram, "p.cpp");
  try {
    block.set("kMissing", "1");
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_EQ(error.place(), "p.cpp");
    EXPECT_NE(error.problem().find("kMissing"), std::string::npos);
  }
  EXPECT_THROW(block.set("n", "1"), InputError);  // the end of another name
  EXPECT_THROW(ParameterBlock("no block\n", "q.cpp"), InputError);
}

}  // namespace
}  // namespace mpsprobe
