#include "harness/matrix/matrix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/input/input_error.h"
#include "harness/matrix/expand.h"
#include "harness/wire/variables.h"

namespace mpsprobe {
namespace {

using testing::HasSubstr;

Operations operations() {
  std::map<std::string, OperationInfo> all;
  all["linear"] = {"linear", "",          "",        {"default", "nograph", "graph"},
                   true,     {"float32"}, "8x64x64", ""};
  all["raw"] = {"raw", "", "", {"default"}, false, {"float32"}, "64x64x64", ""};
  all["mm"] = all["raw"];
  all["mm"].capturable = true;
  all["mm"].dtypes = {"float32", "float16"};
  all["linear"].capturable = true;
  all["lost"] = all["raw"];
  all["lost"].backends = {"cuda"};
  return {all.begin(), all.end()};
}

Plan plan_of(const std::string& text, ExpandOptions options = {}) {
  options.default_backend = Backend::sim;
  return expand(parse_matrix(text, "my.json"), operations(), options);
}

// An operation's entry goes before the backend's, and that before the worker's.
TEST(HonouredAxes, AreThoseOfTheOperationOrOfTheBackend) {
  const auto worker = [](const char* axes_of_cpu) {
    const nlohmann::json operation{{"summary", ""},
                                   {"source", ""},
                                   {"paths", {"default"}},
                                   {"has_parameters", true},
                                   {"dtypes", nlohmann::json::array()},
                                   {"shape", "1"},
                                   {"dimensions", ""}};
    nlohmann::json mm = operation;
    mm["name"] = "mm";
    nlohmann::json selftest = operation;
    selftest["name"] = "selftest.pass";
    selftest["axes"] = {"threads"};
    return operations_from(
        {{"axes", {"threads", "lock"}},
         {"operations", {mm, selftest}},
         {"backends",
          {{{"name", "cpu"}, {"axes", nlohmann::json::parse(axes_of_cpu)}}, {{"name", "mps"}}}}});
  };
  const auto refused = [](const Operations& operations, const char* text) {
    const Cell cell = parse_cell(text);
    return unhonoured_axis(cell, *find_operation(operations, cell.op, cell.backend));
  };
  Operations one = worker(R"(["threads", "lock", "model"])");
  EXPECT_EQ(refused(one, "cpu/mm/default/threads=2/model=per-thread"), "");
  EXPECT_EQ(refused(one, "mps/mm/default/threads=2/model=per-thread"), "model");
  EXPECT_EQ(refused(one, "cpu/selftest.pass/default/threads=2/lock=forward"), "lock");
  // Side by side with a worker that does not honour it there.
  merge_operations(one, worker(R"(["threads"])"));
  EXPECT_EQ(refused(one, "cpu/mm/default/threads=2/model=per-thread"), "model");
  EXPECT_EQ(refused(one, "cpu/mm/default/threads=2/lock=forward"), "lock");
  EXPECT_EQ(refused(one, "mps/mm/default/threads=2/lock=forward"), "");
}

TEST(Matrix, AxesMultiply) {
  const Plan plan = plan_of(
      R"({"mpsprobe_matrix":1,"name":"m","axes":{"op":["linear"],"path":["nograph","graph"],"threads":[1,"2-4"]}})");
  ASSERT_EQ(plan.cells.size(), 8U);
  EXPECT_EQ(to_string(plan.cells[0].cell), "sim/linear/nograph/threads=1");
  EXPECT_EQ(to_string(plan.cells[7].cell), "sim/linear/graph/threads=4");
}

TEST(Matrix, WhatMakesNoSenseIsLeftOutWithAReason) {
  const Plan plan = plan_of(
      R"({"mpsprobe_matrix":1,"name":"m","axes":{"op":["raw"],"path":["default","graph"],"threads":[2]}})");
  ASSERT_EQ(plan.cells.size(), 1U);
  ASSERT_EQ(plan.left_out.size(), 1U);
  EXPECT_EQ(plan.left_out[0].cell, "sim/raw/graph/threads=2");
  EXPECT_THAT(plan.left_out[0].reason, HasSubstr("path"));
}

TEST(Matrix, EveryContradictionHasItsReason) {
  const auto left_out = [](const std::string& cell) {
    const Plan plan = plan_of(R"({"mpsprobe_matrix":1,"name":"m","include":[")" + cell + R"("]})");
    return plan.left_out.empty() ? "" : plan.left_out[0].reason;
  };
  EXPECT_THAT(left_out("cpu/linear/default/threads=2/stream=per-thread"), HasSubstr("streams"));
  EXPECT_THAT(left_out("sim/linear/default/threads=2/validation=api"), HasSubstr("validation"));
  EXPECT_THAT(left_out("sim/raw/default/threads=2/model=per-thread"), HasSubstr("weights"));
  EXPECT_THAT(left_out("sim/raw/default/threads=1/start=staggered"), HasSubstr("one thread"));
  EXPECT_THAT(left_out("sim/raw/default/threads=2/init=threads/warmup=main"), HasSubstr("warm-up"));
  EXPECT_THAT(left_out("cuda/raw/default/threads=2/profile=clean"), HasSubstr("profile"));
  EXPECT_THAT(left_out("mps/raw/default/threads=2/queue=shared"), HasSubstr("metal alone"));
  EXPECT_THAT(left_out("metal/raw/default/threads=2/stream=per-thread"), HasSubstr("queue="));
  EXPECT_THAT(left_out("metal/raw/default/threads=1/queue=shared"), HasSubstr("nobody to share"));
  EXPECT_THAT(left_out("metal/mm/default/threads=2/dtype=float16"), HasSubstr("float32 alone"));
  EXPECT_EQ(left_out("sim/mm/default/threads=2/dtype=float16"), "");
  EXPECT_EQ(left_out("metal/raw/default/threads=2/queue=shared/profile=clean"), "");
  EXPECT_THAT(left_out("sim/raw/default/threads=2/dtype=int8"), HasSubstr("dtype"));
  EXPECT_THAT(left_out("sim/raw/default/threads=2/iterations=1/sync=end"), HasSubstr("iteration"));
  EXPECT_EQ(left_out("sim/raw/default/threads=2/sync=never"), "");
  EXPECT_THAT(left_out("metal/raw/default/threads=2/sync=never"), HasSubstr("command buffers"));
  EXPECT_THAT(left_out("cuda/mm/graph/threads=1/sync=never"), HasSubstr("replayed"));
  EXPECT_THAT(left_out("cuda/mm/default/threads=2/sync=never/wait=item"), HasSubstr("no thread"));
  EXPECT_THAT(left_out("metal/raw/default/threads=2/shapes=per-thread"), HasSubstr("LibTorch's"));
  EXPECT_THAT(left_out("sim/raw/default/threads=1/shapes=per-thread"), HasSubstr("one shape"));
  EXPECT_EQ(left_out("sim/raw/default/threads=2/shapes=per-thread"), "");
  EXPECT_EQ(left_out("sim/linear/graph/threads=2/lock=forward"), "");
  EXPECT_THAT(left_out("sim/raw/default/threads=2/throttle=2"), HasSubstr("throttle"));
  EXPECT_THAT(left_out("sim/raw/default/threads=4/throttle=2/lock=forward"), HasSubstr("a lock"));
  EXPECT_EQ(left_out("sim/raw/default/threads=4/throttle=2"), "");
  EXPECT_THAT(left_out("sim/raw/default/threads=4/stack=49152"), HasSubstr("65536 bytes or more"));
  EXPECT_THAT(left_out("sim/raw/default/threads=4/stack=524289"), HasSubstr("whole pages"));
  EXPECT_EQ(left_out("sim/raw/default/threads=1/stack=524288"), "");
  EXPECT_THAT(left_out("sim/raw/default/threads=2/churn=2/end=exit"), HasSubstr("go on until"));
  EXPECT_THAT(left_out("sim/raw/default/threads=2/sync=never/end=exit"), HasSubstr("go on until"));
  EXPECT_THAT(left_out("sim/raw/default/threads=2/start=sequential/end=exit"),
              HasSubstr("go on until"));
  EXPECT_EQ(left_out("sim/raw/default/threads=1/end=exit"), "");
  EXPECT_THAT(left_out("sim/raw/default/threads=1/start=staggered"), HasSubstr("in one way only"));
  EXPECT_EQ(left_out("sim/raw/default/threads=1/start=main"), "");
  EXPECT_THAT(left_out("sim/raw/default/threads=1/start=main/stack=65536"),
              HasSubstr("main thread's stack"));
  EXPECT_THAT(left_out("sim/mm/default/threads=1/meet=launch"), HasSubstr("cannot meet"));
  EXPECT_THAT(left_out("sim/raw/default/threads=2/lock=forward/meet=stage"),
              HasSubstr("take turns"));
  EXPECT_EQ(left_out("sim/raw/default/threads=2/lock=forward/meet=launch"), "");
  EXPECT_THAT(left_out("sim/mm/default/threads=2/beside=wait/end=exit"), HasSubstr("nobody waits"));
  EXPECT_THAT(left_out("sim/mm/default/threads=256/beside=wait"), HasSubstr("255 or fewer"));
  EXPECT_EQ(left_out("sim/mm/default/threads=255/beside=wait"), "");
  EXPECT_THAT(left_out("metal/mm/default/threads=2/beside=wait"), HasSubstr("queue=shared"));
  EXPECT_THAT(left_out("cuda/mm/default/threads=2/beside=cache"), HasSubstr("use beside=wait"));
  EXPECT_EQ(left_out("mps/mm/default/threads=2/beside=profiler"), "");
  EXPECT_THAT(left_out("cpu/mm/default/threads=2/device=cpu"), HasSubstr("backend mlx alone"));
  EXPECT_THAT(left_out("cuda/mm/default/threads=2/stream=thread-unsafe"),
              HasSubstr("only MLX has thread-unsafe streams"));
  EXPECT_EQ(left_out("metal/mm/default/threads=2/queue=shared/beside=wait"), "");
  EXPECT_THAT(left_out("sim/lost/default/threads=2"), HasSubstr("other backends"));
  EXPECT_EQ(left_out("cuda/lost/default/threads=2"), "");
}

TEST(Matrix, OnCudaAGraphIsACaptureOfWhateverCanBeCaptured) {
  const auto left_out = [](const std::string& cell) {
    const Plan plan = plan_of(R"({"mpsprobe_matrix":1,"name":"m","include":[")" + cell + R"("]})");
    return plan.left_out.empty() ? "" : plan.left_out[0].reason;
  };
  EXPECT_THAT(left_out("sim/mm/graph/threads=2"), HasSubstr("no such path"));
  EXPECT_EQ(left_out("cuda/mm/graph/threads=2/stream=per-thread"), "");
  EXPECT_EQ(left_out("cuda/mm/nograph/threads=2"), "");
  EXPECT_THAT(left_out("cuda/raw/graph/threads=2/stream=per-thread"), HasSubstr("captured into"));
  EXPECT_THAT(left_out("cuda/mm/graph/threads=2"), HasSubstr("by one thread at a time"));
  EXPECT_EQ(left_out("cuda/mm/graph/threads=2/start=sequential"), "");
  EXPECT_EQ(left_out("cuda/mm/graph/threads=1"), "");
  EXPECT_EQ(left_out("cuda/mm/graph/threads=2/stream=per-thread/capture=relaxed"), "");
  EXPECT_THAT(left_out("cuda/mm/nograph/threads=2/capture=relaxed"), HasSubstr("capture mode"));
  EXPECT_THAT(left_out("sim/linear/graph/threads=2/capture=relaxed"), HasSubstr("capture mode"));
}

TEST(Matrix, AnAxisOfEarlierReleasesIsNamed) {
  try {
    plan_of(R"({"mpsprobe_matrix":1,"name":"m","axes":{"op":["mm"],"perturb":["clock"]}})");
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("perturb: \"perturb\" is no axis of this release"));
  }
}

TEST(Matrix, ExcludedCellsAreListedToo) {
  const Plan plan = plan_of(
      R"({"mpsprobe_matrix":1,"name":"m","axes":{"op":["linear"],"threads":["1-4"]},
          "exclude":[{"threads":["2-3"]}]})");
  EXPECT_EQ(plan.cells.size(), 2U);
  ASSERT_EQ(plan.left_out.size(), 2U);
  EXPECT_THAT(plan.left_out[0].reason, HasSubstr("excluded"));
}

TEST(Matrix, TheLastExpectationThatMatchesCounts) {
  const Plan plan = plan_of(
      R"({"mpsprobe_matrix":1,"name":"m","axes":{"op":["linear"],"threads":[2,3]},
          "expect":[{"where":{"op":["linear"]},"verdict":"pass"},
                    {"where":{"threads":[3]},"outcome":"signal","detail":"SIGSEGV"}]})");
  EXPECT_EQ(plan.cells[0].expectation->text(), "pass");
  EXPECT_EQ(plan.cells[1].expectation->text(), "signal SIGSEGV");
}

TEST(Matrix, WhereNothingRealRunsTheBackendsThatDoAreNamed) {
  const Matrix matrix = parse_matrix(
      R"({"mpsprobe_matrix":1,"name":"m","blocks":[{"title":"a","axes":{"op":["raw"]}}]})",
      "m.json");
  ExpandOptions options;
  const auto said = [&](const char* usable) {
    options.why_unavailable = [usable](Backend backend) {
      return name_of(backend) == std::string(usable) ? std::string() : std::string("no device");
    };
    try {
      expand(matrix, operations(), options);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(said("sim"), HasSubstr("These can be named: --backend sim"));
  EXPECT_THAT(said("sim"), testing::Not(HasSubstr("--backend cpu")));
  EXPECT_THAT(said("none"), HasSubstr("None can be used here"));
}

TEST(Matrix, AnOptionFixesItsAxisInEveryBlock) {
  ExpandOptions options;
  options.fixed["threads"] = {"7"};
  options.fixed["backend"] = {"cpu"};
  const Plan plan = plan_of(
      R"({"mpsprobe_matrix":1,"name":"m","blocks":[{"title":"a","axes":{"op":["raw"],"threads":[1,2]}},
          {"title":"b","axes":{"op":["linear"]}}]})",
      options);
  ASSERT_EQ(plan.cells.size(), 2U);
  EXPECT_EQ(to_string(plan.cells[0].cell), "cpu/raw/default/threads=7");
  EXPECT_EQ(to_string(plan.cells[1].cell), "cpu/linear/default/threads=7");
}

TEST(Matrix, FiltersAreShellPatternsOverTheCellsText) {
  ExpandOptions options;
  options.filters = {"*/graph/*"};
  const Plan plan = plan_of(
      R"({"mpsprobe_matrix":1,"name":"m","axes":{"op":["linear"],"path":["nograph","graph"]}})",
      options);
  ASSERT_EQ(plan.cells.size(), 1U);
  EXPECT_EQ(plan.cells[0].cell.path, Path::graph);
}

TEST(Matrix, ACellOfTwoBlocksIsRunOnce) {
  EXPECT_EQ(plan_of(R"({"mpsprobe_matrix":1,"name":"m","axes":{"op":["raw"]},
                        "include":["sim/raw/default/threads=1"]})")
                .cells.size(),
            1U);
}

struct Wrong {
  std::string text;
  std::string names;
};
class WrongMatrix : public testing::TestWithParam<Wrong> {};

TEST_P(WrongMatrix, IsRefusedNamingFilePlaceAndRemedy) {
  try {
    plan_of(GetParam().text);
    FAIL() << "accepted: " << GetParam().text;
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr(GetParam().names));
    EXPECT_FALSE(error.remedy().empty());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Matrix, WrongMatrix,
    testing::Values(
        Wrong{"{", "my.json"}, Wrong{"[]", "my.json"}, Wrong{"{}", "mpsprobe_matrix"},
        Wrong{R"({"mpsprobe_matrix":2,"name":"m","axes":{"op":["raw"]}})", "mpsprobe_matrix"},
        Wrong{R"({"mpsprobe_matrix":1,"name":"m"})", "no cells"},
        Wrong{R"({"mpsprobe_matrix":1,"name":"../x","axes":{"op":["raw"]}})", "my.json: name"},
        Wrong{R"({"mpsprobe_matrix":1,"name":"x\u001b[31m","axes":{"op":["raw"]}})",
              "my.json: name"},
        Wrong{R"({"mpsprobe_matrix":1,"name":"m","axes":{"op":["raw"]},"colour":1})", "colour"},
        Wrong{R"({"mpsprobe_matrix":1,"name":"m","axes":{"thread":[1]}})", "axes.thread"},
        Wrong{R"({"mpsprobe_matrix":1,"name":"m","axes":{"op":"raw"}})", "axes.op"},
        Wrong{R"({"mpsprobe_matrix":1,"name":"m","axes":{"op":["raw"],"threads":[0]}})",
              "axes.threads[0]"},
        Wrong{R"({"mpsprobe_matrix":1,"name":"m","axes":{"op":["raw"],"threads":[1.5]}})",
              "axes.threads[0]"},
        Wrong{R"({"mpsprobe_matrix":1,"name":"m","axes":{"op":["raw"],"threads":["9-2"]}})",
              "axes.threads[0]"},
        Wrong{R"({"mpsprobe_matrix":1,"name":"m","axes":{"op":["raw"],"threads":[]}})",
              "axes.threads"},
        Wrong{R"({"mpsprobe_matrix":1,"name":"m","axes":{"op":["lineer"]}})", "did you mean"},
        Wrong{R"({"mpsprobe_matrix":1,"name":"m","axes":{"threads":[1]}})", "op"},
        Wrong{R"({"mpsprobe_matrix":1,"name":"m","axes":{"op":["raw"]},"run":{"trials":0}})",
              "run.trials"},
        Wrong{R"({"mpsprobe_matrix":1,"name":"m","axes":{"op":["raw"]},"run":{"trials":"9"}})",
              "run.trials"},
        Wrong{R"({"mpsprobe_matrix":1,"name":"m","include":["sim/raw"]})", "include[0]"},
        Wrong{R"({"mpsprobe_matrix":1,"name":"m","axes":{"op":["raw"]},"exclude":[{}]})",
              "exclude[0]"},
        Wrong{R"({"mpsprobe_matrix":1,"name":"m","axes":{"op":["raw"]},"expect":[{"where":{}}]})",
              "expect[0]"},
        Wrong{
            R"({"mpsprobe_matrix":1,"name":"m","axes":{"op":["raw"]},"expect":[{"where":{},"verdict":"good"}]})",
            "verdict"},
        Wrong{
            R"({"mpsprobe_matrix":1,"name":"m","axes":{"op":["raw"]},"expect":[{"where":{},"verdict":"fial"}]})",
            "did you mean \"fail\"?"},
        Wrong{
            R"({"mpsprobe_matrix":1,"name":"m","axes":{"op":["raw"]},"expect":[{"where":{},"outcome":"sginal"}]})",
            "did you mean \"signal\"?"},
        Wrong{
            R"({"mpsprobe_matrix":1,"name":"m","axes":{"op":["raw"]},"expect":[{"where":{},"verdict":"fail","detail":"SIGSEGV"}]})",
            "expect[0].detail"},
        Wrong{
            R"({"mpsprobe_matrix":1,"name":"m","axes":{"op":["raw"],"threads":[2]},"expect":[{"where":{"threads":[3]},"verdict":"fail"}]})",
            "expect[0].where: matches no cell"},
        Wrong{
            R"({"mpsprobe_matrix":1,"name":"m","axes":{"op":["raw"]},"expect":[{"where":{"lock":["forward"]},"verdict":"fail"}]})",
            "expect[0].where: matches no cell"},
        Wrong{R"({"mpsprobe_matrix":1,"name":"m","axes":{"op":[1]}})",
              "axes.op[0]: is a number, and this axis takes names"},
        Wrong{R"({"mpsprobe_matrix":1,"name":"m","axes":{"op":["raw"],"op":["mm"]}})",
              "has the key \"op\" twice"},
        Wrong{R"({"mpsprobe_matrix":1,"name":"m","axes":{"op":["raw"]},"blocks":[]})",
              "stands beside \"blocks\""},
        Wrong{R"({"mpsprobe_matrix":1,"name":"m","axes":{"op":["raw"]},"run":{"stall":301}})",
              "run.stall: is longer than the timeout"},
        Wrong{
            R"({"mpsprobe_matrix":1,"name":"m","axes":{"op":["raw"],"threads":["1-256"],"iterations":["1-40000"]}})",
            "10240000 cells"}));

TEST(Matrix, EveryBuiltInMatrixIsOfTheFormat) {
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(MPSPROBE_SOURCE_DIR) / "scenarios" / "matrices")) {
    const Matrix matrix = load_matrix(entry.path());
    EXPECT_EQ(matrix.name, entry.path().stem().string());
    EXPECT_FALSE(matrix.description.empty());
    for (const Block& block : matrix.blocks) {
      const auto at = block.axes.find("env");
      if (at == block.axes.end()) continue;
      for (const std::string& value : at->second) {
        for (const auto& [name, set] : parse_variables(value)) {
          EXPECT_TRUE(is_documented_switch(name)) << entry.path() << ": " << name;
        }
      }
    }
    ++seen;
  }
  EXPECT_GE(seen, 12);
}

}  // namespace
}  // namespace mpsprobe
