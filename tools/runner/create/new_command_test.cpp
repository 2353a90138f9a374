// `mpsprobe new worker` as somebody meets it who has a library, CMake and a compiler of C.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tools/runner/program_fixture_for_tests.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class NewWorker : public ProgramTest {
 protected:
  /// Puts an installed tree into the folder: a consumer has nothing of ours beside it.
  void install() {
    const Run run = shell(std::string("cmake --install '") + MPSPROBE_BINARY_DIR +
                          "' --component wheel --prefix installed 2>&1");
    ASSERT_EQ(run.exit_code, 0) << run.out;
  }
  /// Runs installed/bin/mpsprobe.
  Run installed(const std::string& arguments) {
    return shell("installed/bin/mpsprobe " + arguments + " 2>&1");
  }
  void build(const std::string& folder) {
    const Run run = shell("cmake -S " + folder + " -B " + folder +
                          "/build -DCMAKE_PREFIX_PATH=$PWD/installed 2>&1 && cmake --build " +
                          folder + "/build 2>&1");
    ASSERT_EQ(run.exit_code, 0) << run.out;
  }
};

TEST_F(NewWorker, IsBuiltByItsOwnProjectAndFindsARace) {
  install();
  const Run made = installed("new worker mine");
  ASSERT_EQ(made.exit_code, 0) << made.out;
  EXPECT_THAT(made.out, HasSubstr("-Dmpsprobe_DIR=" + path("installed/share/mpsprobe/cmake")));
  build("mine");
  const std::string cells =
      "run --worker mine=mine/build/worker --op twice --threads 1,4 "
      "--iterations 300 --trials 3 --out ";
  const Run sound = installed(cells + "sound");
  EXPECT_EQ(sound.exit_code, 0) << sound.out;
  EXPECT_THAT(sound.out, HasSubstr("6 of 6 trials run, 6 count, 0 failed"));

  // Numbers that all threads put down in one place, and take up again.
  std::string source = read("mine/worker.c");
  const std::string safe = "out[i] = 2 * in[i];\n";
  const size_t at = source.find(safe);
  ASSERT_NE(at, std::string::npos);
  source.replace(
      at, safe.size(),
      "scratch[i] = 2 * in[i];\n  for (int i = 0; i < COUNT; ++i) out[i] = scratch[i];\n");
  source.insert(source.find("static void operation"), "static volatile float scratch[COUNT];\n");
  write("mine/worker.c", source);
  build("mine");
  installed(cells + "racy");
  const nlohmann::json report = nlohmann::json::parse(read("racy/report.json"));
  for (const nlohmann::json& cell : report.at("cells")) {
    const bool one = cell.at("cell").get<std::string>().find("threads=1") != std::string::npos;
    EXPECT_EQ(cell.at("failures").get<int>() > 0, !one) << cell.dump(2).substr(0, 2000);
  }
}

TEST_F(NewWorker, KeepsWhatIsThereAndSaysWhatItCannot) {
  fs::create_directory(path("full"));
  write("full/kept", "mine");
  Run run = mpsprobe({"new", "worker", path("full")});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("holds files already"));
  EXPECT_EQ(read("full/kept"), "mine");
  run = mpsprobe({"new", "worker", path("full/kept/x")});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.err, HasSubstr("cannot be made"));
  run = mpsprobe({"new", "thing"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("worker"));
  run = mpsprobe({"new"});
  EXPECT_EQ(run.exit_code, 2);
  // No byte fits: nothing of it stays behind.
  run = shell("ulimit -f 0; trap '' XFSZ; $mpsprobe new worker none 2>&1 | cat");
  EXPECT_THAT(run.out, HasSubstr("worker")) << run.out;
  EXPECT_FALSE(fs::exists(path("none")));
}

}  // namespace
}  // namespace mpsprobe
