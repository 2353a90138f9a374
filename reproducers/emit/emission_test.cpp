#include "reproducers/emit/emission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "harness/input/input_error.h"
#include "harness/matrix/expand.h"
#include "harness/wire/axis.h"

namespace mpsprobe {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

EmissionRequest request_for(const std::string& cell, Outcome outcome = Outcome::signal) {
  return {.cell = parse_cell(cell),
          .signature = "SIGSEGV in f",
          .outcome = outcome,
          .programs = MPSPROBE_SOURCE_DIR "/reproducers/programs"};
}

Emission emitted(const EmissionRequest& request, Kind kind) {
  for (Emission& each : emit(request)) {
    if (each.kind == kind) return std::move(each);
  }
  return {};
}

std::string text_of(const EmissionRequest& request, Kind kind) {
  const Emission emission = emitted(request, kind);
  EXPECT_FALSE(emission.files.empty()) << emission.why_not;
  return emission.files.empty() ? "" : emission.files.front().text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(EmissionTest, GivesThreeKindsInOrderAndNamesThem) {
  const auto all = emit(request_for("mps/linear/nograph/threads=3"));
  constexpr Kind kKinds[] = {Kind::metal, Kind::libtorch, Kind::python};
  ASSERT_EQ(all.size(), 3U);
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].kind, kKinds[i]);
    EXPECT_EQ(named<Kind>(name_of(all[i].kind)), all[i].kind);
    EXPECT_TRUE(all[i].possible()) << all[i].why_not;
  }
  EXPECT_EQ(named<Kind>("perl"), std::nullopt);
}

// What a maintainer reads: the operation and the threads, and nothing of what the cell has not.
TEST(EmissionTest, AProgramIsShortAndHoldsNothingThatTheCellHasNot) {
  const struct {
    const char* cell;
    Kind kind;
    size_t most;
  } kPrograms[] = {
      {"mlx/mm/default/threads=2/stream=per-thread", Kind::mlx, 40},
      {"mlx/lazy/default/threads=2", Kind::mlx, 40},
      {"mlx/raw/default/threads=2/stream=per-thread", Kind::mlx_python, 25},
      {"mps/linear/nograph/threads=3", Kind::libtorch, 40},
      {"mps/linear/nograph/threads=3", Kind::python, 28},
      {"metal/add/nograph/threads=3", Kind::metal, 90},
      {"metal/linear/nograph/threads=3", Kind::metal, 90},
      {"metal/linear/graph/threads=3", Kind::metal, 90},
  };
  for (const auto& each : kPrograms) {
    const std::string text = text_of(request_for(each.cell), each.kind);
    size_t code = 0;
    for (const std::string& line : lines_of(text)) {
      const size_t begin = line.find_first_not_of(' ');
      if (begin == std::string::npos) continue;
      if (!line.substr(begin).starts_with("//") && !line.substr(begin).starts_with("# ")) ++code;
    }
    EXPECT_LE(code, each.most) << text;
    for (const char* other : {"lock", "mutex", "round", "{{", "}}", "$"}) {
      if (std::string(other) == "$") {
        const size_t first = text.find("\n#i");  // behind the line that builds it
        EXPECT_THAT(text.substr(first == std::string::npos ? 0 : first), Not(HasSubstr(other)));
        continue;
      }
      EXPECT_THAT(text, Not(HasSubstr(other))) << text;
    }
  }
}

TEST(EmissionTest, AProgramSaysWhatWasSimulated) {
  auto request = request_for("mps/mm/default/threads=4");
  const std::string own = "PyTorch's own MPS code 2.6.0 (2236df1770) over a simulated Metal";
  request.watermark = simulated_watermark(request.cell, own);
  for (const Emission& emission : emit(request)) {
    for (const EmittedFile& each : emission.files) {
      EXPECT_THAT(each.text.substr(0, 600), HasSubstr(own)) << each.name;
      EXPECT_THAT(each.text.substr(0, 600), Not(HasSubstr("profile"))) << each.name;
    }
  }
}

TEST(EmissionTest, SaysTheConditionsOfTheCell) {
  const std::string libtorch =
      text_of(request_for("mps/linear/graph/threads=5/iterations=7/shape=2x16x32"
                          "/dtype=float16/model=per-thread/init=threads/sync=end/lock=forward"),
              Kind::libtorch);
  for (const char* expected :
       {"waiting = 5;", "i < 7;", "std::unique_lock<std::mutex> turn(lock);", "dtype(at::kHalf)",
        "x = at::randn({2, 16})", "weight = (at::randn({16, 32}).t() / 4)",
        "bias = at::randn({32})"}) {
    EXPECT_THAT(libtorch, HasSubstr(expected));
  }
  const auto streams =
      emitted(request_for("mps/mm/default/threads=2/stream=per-thread"), Kind::libtorch);
  EXPECT_THAT(streams.files[0].text, AllOf(HasSubstr("at::mps::getStreamFromPool()"),
                                           HasSubstr("#include <ATen/mps/MPSStream.h>"),
                                           Not(HasSubstr("->synchronize("))));
  EXPECT_THAT(streams.not_expressed, IsEmpty());
  EXPECT_THAT(text_of(request_for("mps/mm/default/threads=2/wait=stream"), Kind::libtorch),
              HasSubstr("dispatch_sync_f(stream->queue()"));
  EXPECT_THAT(text_of(request_for("mps/mm/default/threads=2/wait=event"), Kind::libtorch),
              HasSubstr("mps.synchronizeEvent(event)"));
  const std::string mlx = text_of(
      request_for("mlx/chain/default/threads=3/stream=per-thread/churn=4/owner=main"), Kind::mlx);
  EXPECT_THAT(mlx, AllOf(HasSubstr("round < 4"), HasSubstr("[&, s, x")));
  EXPECT_THAT(
      text_of(request_for("metal/add/nograph/threads=3/queue=shared/sync=end"), Kind::metal),
      HasSubstr("  id<MTLCommandQueue> queue = [device newCommandQueue];\n  std::atomic"));
}

TEST(EmissionTest, TakesTheFormThatIsAskedFor) {
  EmissionRequest request = request_for("mlx/mm/default/threads=2/stream=per-thread");
  const auto before_start = [&](const char* what) {
    const std::string text = text_of(request, Kind::mlx);
    return text.find(what) < text.find("--waiting");
  };
  EXPECT_TRUE(before_start("const mx::array a"));
  EXPECT_FALSE(before_start("const mx::Stream s"));
  request.form = {.inputs_first = false, .stream_first = true, .rounds = 50};
  EXPECT_FALSE(before_start("const mx::array a"));
  EXPECT_TRUE(before_start("const mx::Stream s"));
  EXPECT_THAT(text_of(request, Kind::mlx), HasSubstr("round < 50"));
  EXPECT_THAT(text_of(request, Kind::mlx_python), HasSubstr("for _ in range(50):"));
}

// Numbers are compared where they were wrong, a printed error is read where one was printed.
TEST(EmissionTest, LooksForTheFailureThatItIsOf) {
  for (const auto& [cell, kind] : {std::pair("mps/linear/nograph/threads=3", Kind::libtorch),
                                   std::pair("mps/linear/nograph/threads=3", Kind::python),
                                   std::pair("mlx/mm/default/threads=3", Kind::mlx),
                                   std::pair("mlx/mm/default/threads=3", Kind::mlx_python),
                                   std::pair("metal/add/nograph/threads=3", Kind::metal)}) {
    EXPECT_NE(text_of(request_for(cell), kind),
              text_of(request_for(cell, Outcome::wrong_result), kind));
  }
  EXPECT_THAT(text_of(request_for("mps/mm/default/threads=3", Outcome::gpu_error), Kind::libtorch),
              HasSubstr("exited with error status"));
  EXPECT_THAT(text_of(request_for("mps/mm/default/threads=3", Outcome::exception), Kind::python),
              HasSubstr("threading.excepthook"));
}

TEST(EmissionTest, SaysWhatAProgramCannotSay) {
  const auto request = request_for("mps/linear/nograph/threads=2/meet=launch/stream=per-thread");
  EXPECT_THAT(emitted(request, Kind::libtorch).not_expressed,
              Contains(StartsWith("meet=launch: ")));
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
    text += file.text.substr(file.text.find('\n', file.text.find('\n') + 1));
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

TEST(EmissionTest, ARareFailureGetsMoreAttempts) {
  EXPECT_EQ(attempts_for(0.04), 113);
  EXPECT_EQ(attempts_for(0.99), 1);
  EXPECT_EQ(attempts_for(0), 300);
  auto request = request_for("mps/linear/nograph/threads=2");
  request.form.attempts = 113;
  request.form.seconds = 12.3;
  EXPECT_THAT(text_of(request, Kind::libtorch), HasSubstr("// of 113 processes, 12 s in all"));
}

// Each that hangs takes its whole limit, and one shows it.
TEST(EmissionTest, OfAHangTheFirstIsEnough) {
  auto request = request_for("mlx/mm/default/threads=2");
  request.outcome = Outcome::hang;
  request.form.attempts = 20;
  request.form.seconds = 15;
  EXPECT_THAT(text_of(request, Kind::mlx), AllOf(HasSubstr("// of 20 processes, 15 s in all"),
                                                 HasSubstr("i < 20 && failed == 0; ++i"),
                                                 HasSubstr("%d of at most 20 processes failed")));
  EXPECT_THAT(text_of(request, Kind::mlx_python), HasSubstr("failed = any("));
}

TEST(EmissionTest, AHostileSignatureStaysInItsComment) {
  auto request = request_for("mps/linear/nograph/threads=2");
  request.signature = "a\nint main() {}\r\xff\\{{main}}" + std::string(1000, 'x');
  const auto lines = lines_of(text_of(request, Kind::libtorch));
  EXPECT_THAT(lines[0], StartsWith("// a?int main() {}???{{main}}xxx"));
  EXPECT_LT(lines[0].size(), 200U);
}

TEST(EmissionTest, AMissingProgramIsABrokenInstallation) {
  auto request = request_for("mps/linear/nograph/threads=2");
  request.programs = "/does/not/exist";
  EXPECT_THROW(emit(request), InputError);
}

// What lies in testdata is compiled against Apple's headers by the cross-build, which runs no test.
// MPSPROBE_WRITE=1 writes it anew.
TEST(EmissionTest, ThoseThatTheCrossBuildCompilesAreThoseOfToday) {
  for (const char* cell :
       {"metal/add/nograph/threads=3/queue=shared/lock=forward",
        "metal/linear/nograph/threads=3/sync=end", "metal/linear/graph/threads=3"}) {
    const std::string text = text_of(request_for(cell, Outcome::wrong_result), Kind::metal);
    std::string name = cell;
    name = name.substr(0, name.find("/threads"));
    std::replace(name.begin(), name.end(), '/', '_');
    const std::string file = MPSPROBE_SOURCE_DIR "/reproducers/emit/testdata/" + name + ".mm";
    if (std::getenv("MPSPROBE_WRITE") != nullptr) std::ofstream(file) << text;
    std::ifstream in(file);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), text) << file;
  }
}

std::string without_numbers(std::string text) {
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return text;
}

// But for the attempts, which were measured when the gallery was made.
TEST(EmissionTest, TheGalleryShowsTheProgramsThatAreHandedOnToday) {
  const std::string folder = MPSPROBE_SOURCE_DIR "/docs/gallery/simulated-bundle/programs/";
  for (const auto& [kind, name] : {std::pair(Kind::metal, "metal/reproducer.mm"),
                                   std::pair(Kind::libtorch, "libtorch/reproducer.cpp"),
                                   std::pair(Kind::python, "python/reproducer.py")}) {
    std::ifstream in(folder + name);
    const std::string shown{std::istreambuf_iterator<char>(in), {}};
    const auto lines = lines_of(shown);
    ASSERT_GT(lines.size(), 3U) << name;
    EmissionRequest request = request_for(lines[1].substr(lines[1].rfind(' ') + 1));
    request.signature = lines[0].substr(lines[0].find(' ') + 1);
    request.watermark = simulated_watermark(request.cell);
    request.form.seconds = 1;
    EXPECT_EQ(without_numbers(shown), without_numbers(text_of(request, kind)))
        << name << " is not what is handed on today. tools/gallery makes the bundle again";
  }
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
  const std::string code_ = "def thread_setup(thread):\n    pass\n\n\ndef Infer():\n    return 1\n";
  void SetUp() override {
    std::filesystem::create_directories(folder_);
    std::ofstream(app_) << code_;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
};

TEST_F(OwnCodeEmission, HasTheFunctionAndAProgramThatCallsIt) {
  const std::vector<Emission> all = emit(request(
      "mlx/infer/default/threads=3/iterations=7/churn=2/lock=forward/leave=clear-streams", app_));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].kind, Kind::python);
  ASSERT_EQ(all[0].files.size(), 2U) << all[0].why_not;
  for (const char* expected :
       {"import own_app\n", "own_app.Infer(*given)", "own_app.thread_setup(thread)",
        "threading.Barrier(3)", "range(7)", "with lock:", "clear_streams()", "range(2):"}) {
    EXPECT_THAT(all[0].files[0].text, HasSubstr(expected));
  }
  EXPECT_EQ(all[0].files[1].name, "own_app.py");
  EXPECT_EQ(all[0].files[1].text, code_);
  EXPECT_EQ(all[0].beside, folder_);
  EXPECT_THAT(all[0].not_expressed, IsEmpty());
}

TEST_F(OwnCodeEmission, OfOneCallHasNoLoop) {
  const std::string text =
      emit(request("mlx/infer/default/threads=3/iterations=1", app_))[0].files.at(0).text;
  EXPECT_THAT(text, AllOf(HasSubstr("call(thread, 0)"), Not(HasSubstr("        call(thread, i)"))));
}

TEST_F(OwnCodeEmission, OfTheMainThreadAloneStartsNone) {
  const Emission emission = emit(request("mlx/infer/default/threads=2/start=main", app_))[0];
  EXPECT_THAT(emission.files.at(0).text,
              AllOf(HasSubstr("for t in range(2):\n"), HasSubstr("    work(t)\n"),
                    Not(HasSubstr("threading.Thread("))));
  EXPECT_THAT(emission.not_expressed, IsEmpty());
}

TEST_F(OwnCodeEmission, OfATestHasPytestCallIt) {
  EmissionRequest test =
      request_for("cpu/suite.sum/default/threads=2/start=sequential/stack=65536");
  test.own_test = app_.string() + "::TestIt::test_sum[a\\b]";
  const Emission emission = emit(test)[0];
  ASSERT_EQ(emission.files.size(), 2U) << emission.why_not;
  EXPECT_THAT(emission.files[0].text,
              AllOf(HasSubstr("\"own_app.py::TestIt::test_sum[a\\\\b]\""),
                    HasSubstr("threading.stack_size(65536)"), HasSubstr("thread.join()\n")));
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
