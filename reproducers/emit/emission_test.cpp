#include "reproducers/emit/emission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "harness/input/input_error.h"
#include "harness/matrix/expand.h"
#include "harness/wire/axis.h"
#include "reproducers/emit/recipes.h"

namespace mpsprobe {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

const std::filesystem::path kPrograms = MPSPROBE_SOURCE_DIR "/reproducers/programs";

EmissionRequest request_for(const std::string& cell) {
  return {.cell = parse_cell(cell), .signature = "SIGSEGV in f", .programs = kPrograms};
}

Emission emitted(const EmissionRequest& request, Kind kind) {
  return emit(request)[static_cast<size_t>(kind)];
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string outside_of_block(const std::string& text) {
  return text.substr(0, text.find("---- parameters: begin")) +
         text.substr(text.find("---- parameters: end"));
}

std::string file(const std::filesystem::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(EmissionTest, GivesFourKindsInOrderAndNamesThem) {
  const auto all = emit(request_for("mps/linear/nograph/threads=3"));
  constexpr Kind kKinds[] = {Kind::metal, Kind::libtorch, Kind::python, Kind::mpsprobe};
  ASSERT_EQ(all.size(), 4U);
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].kind, kKinds[i]);
    EXPECT_EQ(named<Kind>(name_of(all[i].kind)), all[i].kind);
    EXPECT_TRUE(all[i].possible()) << all[i].why_not;
  }
  EXPECT_EQ(named<Kind>("perl"), std::nullopt);
  EXPECT_THAT(all[3].run, HasSubstr("mpsprobe run --cell mps/linear/nograph/threads=3"));
}

TEST(EmissionTest, ACellOfMlxBecomesProgramsOnMlxAlone) {
  const auto all = emit(request_for("mlx/chain/default/threads=3/stream=per-thread/churn=4"));
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].kind, Kind::mlx);
  EXPECT_EQ(all[1].kind, Kind::mlx_python);
  EXPECT_EQ(named<Kind>("mlx-python"), Kind::mlx_python);
  EXPECT_THAT(all[0].files.at(0).text, HasSubstr("constexpr size_t kRounds = 4;"));
  EXPECT_THAT(all[0].files.at(0).text, HasSubstr("constexpr bool kOwnStreams = true;"));
  EXPECT_THAT(all[1].files.at(0).text, HasSubstr("ROUNDS, RUNS = 3, 10, 4, "));
  EXPECT_THAT(all[1].files.at(0).text,
              HasSubstr("LAZY, BY_MAIN, TOLERANCE = False, True, False, False"));
}

TEST(EmissionTest, OnlyTheFirstLinesAndTheBlockDifferFromTheProgramAsItLies) {
  auto request = request_for("mps/linear/nograph/threads=7/iterations=33");
  request.watermark = "SIMULATED, says the test.";
  const std::pair<Kind, const char*> kFiles[] = {{Kind::metal, "metal/kernel.mm"},
                                                 {Kind::libtorch, "libtorch/reproducer.cpp"},
                                                 {Kind::python, "python/reproducer.py"}};
  for (const auto& [kind, path] : kFiles) {
    const std::string text = emitted(request, kind).files[0].text;
    const auto lines = lines_of(text);
    EXPECT_THAT(lines[0], testing::EndsWith(" mps/linear/nograph/threads=7/iterations=33"));
    EXPECT_THAT(lines[1], HasSubstr("SIMULATED, says the test. SIGSEGV in f"));
    const std::string rest = text.substr(lines[0].size() + lines[1].size() + 2);
    EXPECT_EQ(outside_of_block(rest), outside_of_block(file(kPrograms / path))) << path;
    EXPECT_THAT(text, HasSubstr("7"));
    EXPECT_THAT(text, HasSubstr("33"));
  }
}

TEST(EmissionTest, EveryProgramOfEveryOperationIsShort) {
  for (const Recipe& recipe : recipes()) {
    for (const char* path : {"default", "graph"}) {
      if (path == std::string("graph") && !recipe.linear) continue;
      auto request = request_for("mps/" + std::string(recipe.op) + "/" + path + "/threads=4");
      request.watermark = simulated_watermark(request.cell);
      for (const Emission& emission : emit(request)) {
        for (const EmittedFile& each : emission.files) {
          const auto lines = lines_of(each.text);
          if (emission.kind == Kind::python) {
            EXPECT_LE(std::count_if(lines.begin(), lines.end(),
                                    [](const std::string& line) {
                                      return !line.empty() && line[0] != '#' &&
                                             !line.starts_with("import ");
                                    }),
                      20);
            EXPECT_LE(lines.size(), 29U);
          } else {
            // Metal's have two arms more, under its validation layers.
            EXPECT_LT(lines.size(), emission.kind == Kind::metal ? 225U : 160U)
                << to_string(request.cell) << " " << each.name;
          }
          if (each.name != "CMakeLists.txt") {
            EXPECT_THAT(each.text, testing::Not(HasSubstr("$"))) << each.name;
          }
        }
      }
    }
  }
}

TEST(EmissionTest, ImportsTorchAndThreadingAlone) {
  const std::string text =
      emitted(request_for("mps/linear/nograph/threads=3"), Kind::python).files[0].text;
  std::vector<std::string> imports;
  for (const std::string& line : lines_of(text)) {
    if (line.find("import") != std::string::npos) imports.push_back(line);
  }
  EXPECT_THAT(imports, testing::ElementsAre("import threading", "import torch"));
  EXPECT_THAT(text, HasSubstr("assert "));
}

TEST(EmissionTest, SaysTheAxesThatTheCellHas) {
  const auto text = emitted(request_for("mps/linear/graph/threads=5/iterations=7/shape=2x16x32"
                                        "/dtype=float16/model=per-thread/init=threads/sync=end"),
                            Kind::libtorch)
                        .files[0]
                        .text;
  for (const char* expected :
       {"kThreads = 5;", "kIterations = 7;", "kFirstInThreads = true;", "kSyncEach = false;",
        "kSharedWeights = false;", "kType = at::kHalf;", "at::randn({2, 16})",
        "at::randn({16, 32}).t() / 4, at::randn({32})"}) {
    EXPECT_THAT(text, HasSubstr(expected));
  }
  const auto streams =
      emitted(request_for("mps/mm/default/threads=2/stream=per-thread"), Kind::libtorch);
  EXPECT_THAT(streams.files[0].text, HasSubstr("at::mps::getStreamFromPool()"));
  EXPECT_THAT(streams.files[0].text, HasSubstr("#include <ATen/mps/MPSStream.h>"));
  EXPECT_THAT(streams.not_expressed, IsEmpty());
  // Nothing but the whole device is waited for off the stream's own queue.
  EXPECT_THAT(streams.files[0].text, Not(HasSubstr("->synchronize(")));
  EXPECT_THAT(
      emitted(request_for("mps/mm/default/threads=2/wait=stream"), Kind::libtorch).files[0].text,
      HasSubstr("dispatch_sync_f(stream->queue()"));
  EXPECT_THAT(
      emitted(request_for("mps/mm/default/threads=2/wait=event"), Kind::libtorch).files[0].text,
      HasSubstr("mps.synchronizeEvent(event)"));
  const auto metal =
      emitted(request_for("metal/linear/nograph/threads=4/queue=shared"), Kind::metal);
  EXPECT_THAT(metal.files[0].text, HasSubstr("kSharedQueue = true;"));
}

TEST(EmissionTest, SaysWhatAProgramCannotSay) {
  const auto request = request_for("mps/linear/nograph/threads=2/churn=4/stream=per-thread");
  EXPECT_THAT(emitted(request, Kind::libtorch).not_expressed, Contains(StartsWith("churn=4: ")));
  EXPECT_THAT(emitted(request, Kind::python).not_expressed,
              Contains(StartsWith("stream=per-thread: ")));
  EXPECT_THAT(emitted(request_for("mps/conv1d/default/threads=2"), Kind::metal).why_not,
              HasSubstr("conv1d"));
  EXPECT_THAT(
      emitted(request_for("mps/transformer_layer/default/threads=2"), Kind::libtorch).why_not,
      HasSubstr("transformer_layer"));
  EXPECT_FALSE(emitted(request_for("mps/linear/nograph/processes=4"), Kind::libtorch).possible());
  EXPECT_FALSE(emitted(request_for("metal/linear/nograph/threads=4"), Kind::python).possible());
  EXPECT_TRUE(emitted(request_for("metal/linear/nograph/threads=4"), Kind::metal).possible());
}

// The text of the files without the lines that name the cell.
std::string says(const Emission& emission) {
  std::string text;
  for (const EmittedFile& file : emission.files) {
    text += file.text.substr(file.text.find("\n") + 1);
  }
  return text;
}

TEST(EmissionTest, NoAxisVanishesFromAProgram) {
  int looked_at = 0;
  OperationInfo any;
  any.paths = {"default", "graph", "nograph"};
  any.dtypes = {"float16"};
  any.has_parameters = true;
  for (const char* name : {"mps/linear/default/threads=2", "metal/linear/nograph/threads=2",
                           "metal/linear/graph/threads=2", "mlx/mlp/default/threads=2"}) {
    for (const Axis& axis : axes()) {
      if (axis.name == "backend" || axis.name == "op" || axis.name == "path" ||
          axis.name == "profile") {
        continue;  // a path may be the one that is taken anyhow
      }
      std::vector<std::string> values(axis.values.begin(), axis.values.end());
      if (axis.kind == AxisKind::count) values = {"3"};
      if (axis.name == "shape") values = {"4x32x16"};
      if (axis.name == "dtype") values = {"float16"};
      if (axis.name == "env") values = {"A=1", "A=unset"};
      EXPECT_FALSE(values.empty()) << axis.name << ": give this test a value of it";
      for (const std::string& value : values) {
        EmissionRequest request = request_for(name);
        const std::vector<Emission> before = emit(request);
        set_axis(request.cell, axis, value);
        if (request.cell == parse_cell(name) || contradiction(request.cell, any)) continue;
        const std::vector<Emission> after = emit(request);
        for (size_t i = 0; i + 1 < after.size(); ++i) {  // the last is the cell itself
          if (!after[i].possible() || !before[i].possible()) continue;
          ++looked_at;
          EXPECT_TRUE(says(after[i]) != says(before[i]) ||
                      after[i].not_expressed != before[i].not_expressed)
              << name << ", " << name_of(after[i].kind) << ": " << axis.name << '=' << value;
        }
      }
    }
  }
  EXPECT_GT(looked_at, 100);
}

TEST(EmissionTest, ARareFailureGetsMoreRuns) {
  auto request = request_for("mps/linear/nograph/threads=2");
  request.failure_rate = 0.04;
  EXPECT_THAT(emitted(request, Kind::libtorch).files[0].text, HasSubstr("kRuns = 113;"));
  request.failure_rate = 1;
  EXPECT_THAT(emitted(request, Kind::libtorch).files[0].text, HasSubstr("kRuns = 10;"));
}

TEST(EmissionTest, AHostileSignatureStaysInItsComment) {
  auto request = request_for("mps/linear/nograph/threads=2");
  request.signature = "a\nint main() {}\r\xff\\" + std::string(1000, 'x');
  const auto lines = lines_of(emitted(request, Kind::libtorch).files[0].text);
  EXPECT_THAT(lines[1], StartsWith("// a?int main() {}???xxx"));
  EXPECT_LT(lines[1].size(), 200U);
}

TEST(EmissionTest, AMissingProgramIsABrokenInstallation) {
  auto request = request_for("mps/linear/nograph/threads=2");
  request.programs = "/does/not/exist";
  EXPECT_THROW(emit(request), InputError);
}

class OwnCodeEmission : public testing::Test {
 protected:
  static EmissionRequest request(const std::string& cell, const std::string& file) {
    EmissionRequest request = request_for(cell);
    request.own_function = file + "::Infer";
    return request;
  }
  // A folder of this process: tests run beside each other, each in its own.
  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("own-code-" + std::to_string(getpid()));
  const std::filesystem::path app_ = folder_ / "own_app.py";
  void SetUp() override {
    std::filesystem::create_directories(folder_);
    std::ofstream(app_) << "def Infer():\n    return 1\n";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
};

TEST_F(OwnCodeEmission, HasTheFunctionAndAProgramThatCallsIt) {
  const std::vector<Emission> all = emit(request(
      "mlx/infer/default/threads=3/iterations=7/churn=2/lock=forward/leave=clear-streams", app_));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].kind, Kind::python);
  ASSERT_EQ(all[0].files.size(), 2U) << all[0].why_not;
  EXPECT_THAT(all[0].files[0].text, HasSubstr("MODULE, FOLDER, FUNCTION = \"own_app\", "));
  EXPECT_THAT(all[0].files[0].text, HasSubstr("\"Infer\"\n"));
  EXPECT_THAT(all[0].files[0].text, HasSubstr("RUNS = 3, 7, 2, 10\n"));
  EXPECT_THAT(all[0].files[0].text, HasSubstr("STACK = True, False, False, True, 0\n"));
  EXPECT_EQ(all[0].files[1].name, "own_app.py");
  EXPECT_EQ(all[0].files[1].text, file(app_));
  EXPECT_THAT(all[0].not_expressed, IsEmpty());
}

TEST_F(OwnCodeEmission, OfATestHasPytestCallIt) {
  EmissionRequest test =
      request_for("cpu/suite.sum/default/threads=2/start=sequential/stack=65536");
  test.own_test = app_.string() + "::TestIt::test_sum[a\\b]";
  const Emission emission = emit(test)[0];
  ASSERT_EQ(emission.files.size(), 2U) << emission.why_not;
  EXPECT_THAT(emission.files[0].text, HasSubstr("own_app.py\", \"TestIt::test_sum[a\\\\b]\"\n"));
  EXPECT_THAT(emission.files[0].text, HasSubstr("STACK = False, True, False, False, 65536\n"));
  EXPECT_THAT(emission.not_expressed, IsEmpty());
}

TEST_F(OwnCodeEmission, SaysWhatItLeavesOut) {
  EXPECT_THAT(emit(request("cpu/infer/default/threads=2/start=staggered/throttle=1", app_))[0]
                  .not_expressed,
              testing::SizeIs(2));
}

TEST_F(OwnCodeEmission, SaysWhyThereIsNone) {
  const auto why = [](const EmissionRequest& asked) { return emit(asked)[0].why_not; };
  EXPECT_THAT(why(request("cpu/infer/default/threads=2", "/nowhere/app.py")),
              HasSubstr("not there"));
  EXPECT_THAT(why(request("cpu/infer/default/threads=2/processes=2", app_)),
              HasSubstr("several processes"));
  EXPECT_THAT(why(request("cpu/infer/default/threads=2", "a\nb")), HasSubstr("form"));
}

}  // namespace
}  // namespace mpsprobe
