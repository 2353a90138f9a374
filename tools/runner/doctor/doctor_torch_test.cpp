// Which LibTorch a worker really loads, with the real worker and a real second copy.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "harness/journal/journal.h"
#include "tools/runner/program_fixture_for_tests.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

#ifdef __APPLE__
constexpr const char* kLibraryPath = "DYLD_LIBRARY_PATH";
#else
constexpr const char* kLibraryPath = "LD_LIBRARY_PATH";
#endif
// In every LibTorch, and in none.
constexpr const char* kThere = "_ZN2at15get_num_threadsEv";
constexpr const char* kNotThere = "_ZN2at3mps11noSuchThingEv";

class DoctorTorch : public ProgramTest {
 protected:
  json doctor(std::vector<std::string> arguments, int expected_exit) const {
    arguments.insert(arguments.begin(), {"doctor", "--json"});
    const Run run = mpsprobe(arguments);
    EXPECT_EQ(run.exit_code, expected_exit) << run.out << run.err;
    return json::parse(run.out, nullptr, false);
  }

  static json check(const json& answer, const std::string& id) {
    for (const json& each : answer.at("checks")) {
      if (each.at("id") == id) return each;
    }
    return {{"status", "there is no check " + id}, {"value", ""}};
  }

  /// A second installation of the same files. Hard links, which the loader takes for what they
  /// are: other files.
  fs::path copy_of(const fs::path& library) const {
    const fs::path root = library.parent_path().parent_path();
    const fs::path folder = fs::canonical(folder_) / "second" / "torch" / "lib";
    fs::create_directories(folder);
    for (const fs::directory_entry& entry : fs::directory_iterator(root / "lib")) {
      const std::string name = entry.path().filename().string();
      const bool is_library = name.find(".so") != std::string::npos || name.ends_with(".dylib");
      if (!entry.is_regular_file() || !is_library) continue;
      std::error_code error;
      fs::create_hard_link(entry.path(), folder / name, error);
      if (error) fs::copy_file(entry.path(), folder / name);
    }
    if (fs::exists(root / "version.py")) {
      fs::copy_file(root / "version.py", folder.parent_path() / "version.py");
    }
    // A wheel finds its neighbours relative to itself.
    if (fs::exists(root.parent_path() / "nvidia")) {
      fs::create_directory_symlink(root.parent_path() / "nvidia",
                                   folder.parent_path().parent_path() / "nvidia");
    }
    return folder / library.filename();
  }
};

TEST_F(DoctorTorch, TheWorkerIsWellAndLoadsWhatItWasBuiltAgainst) {
  const json answer = doctor({"--probe", kThere, "--probe", kNotThere}, 0);
  EXPECT_EQ(check(answer, "worker.stock.shadowed")["status"], "ok");
  EXPECT_EQ(check(answer, "worker.stock.library")["status"], "ok");
  EXPECT_EQ(check(answer, std::string("worker.stock.symbol.") + kThere)["value"], "there");
  EXPECT_EQ(check(answer, std::string("worker.stock.symbol.") + kNotThere)["value"], "not there");
  EXPECT_EQ(check(answer, "worker.stock.backend.cpu")["status"], "ok");
  EXPECT_EQ(check(answer, "run.stock.computes.cpu")["status"], "ok");
}

TEST_F(DoctorTorch, ASecondCopyInFrontIsToldWithBothPathsByDoctorAndByRun) {
  const std::string real = doctor({}, 0).at("/workers/0/provenance/torch/path"_json_pointer);
  const std::string copy = copy_of(real).string();
  const std::string front = std::string(kLibraryPath) + "=" + fs::path(copy).parent_path().string();
  const json answer = doctor({"--env", front}, 3);
  EXPECT_EQ(answer.at("/workers/0/provenance/torch/path"_json_pointer), copy)
      << "the copy was not loaded: this test proves nothing";
  const json shadowed = check(answer, "worker.stock.shadowed");
  EXPECT_EQ(shadowed["status"], "fail");
  EXPECT_THAT(shadowed["value"], HasSubstr(copy));
  EXPECT_THAT(shadowed["value"], HasSubstr(real));
  EXPECT_THAT(shadowed["remedy"], HasSubstr(kLibraryPath));
  const Run refused =
      mpsprobe({"run", "--cell", "cpu/mm/default", "--env", front, "--expect-torch",
                "path:" + fs::path(real).parent_path().string(), "--out", path("out")});
  EXPECT_EQ(refused.exit_code, 3) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr(copy));
  EXPECT_THAT(refused.err, HasSubstr(real));
  const Run warned = mpsprobe({"run", "--cell", "cpu/mm/default", "--trials", "1", "--env", front,
                               "--out", path("warned")});
  EXPECT_EQ(warned.exit_code, 0) << warned.err;
  EXPECT_THAT(warned.err, HasSubstr("is loaded in place of " + real));
}

TEST_F(DoctorTorch, EveryTrialKeepsItsImagesAndItsSymbols) {
  const Run run =
      mpsprobe({"run", "--cell", "cpu/mm/default", "--cell", "cpu/ones/default", "--trials", "2",
                "--probe", kThere, "--probe", kNotThere, "--out", path("out")});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr(std::string(kNotThere) + " is not there"));
  const Journal journal = read_journal(path("out/journal.ndjson"));
  ASSERT_EQ(journal.trials.size(), 4U);
  EXPECT_EQ(journal.image_sets.size(), 1U) << "the same images, stored more than once";
  for (const TrialRecord& trial : journal.trials) {
    for (const ProcessRecord& process : trial.processes) {
      const auto& images = journal.image_sets.at(process.image_set);
      const bool torch = std::any_of(images.begin(), images.end(), [](const ImageSeen& image) {
        return image.path.find("libtorch_cpu") != std::string::npos;
      });
      EXPECT_TRUE(torch);
      const json& symbols = journal.provenances.at(process.hello->provenance).at("symbols");
      EXPECT_EQ(symbols, json({{kThere, true}, {kNotThere, false}}));
    }
  }
}

}  // namespace
}  // namespace mpsprobe
