#include "scenarios/provenance/provenance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/provenance/executable.h"
#include "harness/provenance/influential_environment.h"
#include "harness/provenance/installed_torch.h"
#include "scenarios/provenance/image.h"
#include "scenarios/provenance/symbol_probes.h"

namespace mpsprobe {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

TEST(Provenance, NamesTheLibraryThatIsReallyLoaded) {
  const nlohmann::json torch = torch_provenance();
  const std::string path = torch["path"];
  EXPECT_THAT(path, HasSubstr("libtorch_cpu"));
  EXPECT_TRUE(std::filesystem::is_regular_file(path)) << path;
  EXPECT_EQ(torch["fingerprint"].get<std::string>().substr(
                0, torch["fingerprint"].get<std::string>().find(':')),
            std::to_string(std::filesystem::file_size(path)));
  EXPECT_TRUE(same_release(torch["version"].get<std::string>(),
                           torch["compiled_version"].get<std::string>()));
  EXPECT_THAT(torch["git_hash"].get<std::string>(), MatchesRegex("[0-9a-f]*"));
  EXPECT_EQ(torch["git_hash"].get<std::string>().size(), 40u);
  EXPECT_TRUE(torch["has_mps_stream_pool"].is_boolean());
}

TEST(Provenance, OtherReleasesAreTold) {
  EXPECT_TRUE(same_release("2.15.0+cu132", "2.15.1"));
  EXPECT_TRUE(same_release("2.9.1a0+git5811a8d", "2.9.0"));
  EXPECT_FALSE(same_release("2.15.0", "2.1.0"));
  EXPECT_FALSE(same_release("2.9.1", "2.15.0"));
  EXPECT_FALSE(same_release("3.15.0", "2.15.0"));
  EXPECT_FALSE(same_release("", "2.15.0"));
}

TEST(Provenance, BuildTextsAreReadByKey) {
  constexpr std::string_view kText =
      "  - Build settings: BLAS_INFO=mkl, COMMIT_SHA=d0f2af8b, MY_TORCH_VERSION=1, "
      "TORCH_VERSION=2.15.0, USE_CUDA=1, \n";
  EXPECT_EQ(build_setting(kText, "TORCH_VERSION"), "2.15.0");
  EXPECT_EQ(build_setting(kText, "COMMIT_SHA"), "d0f2af8b");
  EXPECT_EQ(build_setting(kText, "BLAS_INFO"), "mkl");
  EXPECT_EQ(build_setting(kText, "CUDA_VERSION"), "");
  EXPECT_EQ(build_setting("", "X"), "");
}

TEST(Provenance, VersionFilesAreReadByName) {
  constexpr std::string_view kText =
      "from typing import Optional\n__all__ = ['__version__', 'git_version']\n"
      "__version__ = '2.15.0+cu132'\ndebug = False\ncuda: Optional[str] = \"13.2\"\n"
      "git_version = 'd0f2af8b'";
  EXPECT_EQ(python_assignment(kText, "__version__"), "2.15.0+cu132");
  EXPECT_EQ(python_assignment(kText, "git_version"), "d0f2af8b");
  EXPECT_EQ(python_assignment(kText, "cuda"), "13.2");
  EXPECT_EQ(python_assignment(kText, "debug"), "");
  EXPECT_EQ(python_assignment(kText, "git"), "");
  EXPECT_EQ(python_assignment("x = 'open", "x"), "");
}

TEST(Provenance, EnvironmentHasWhatChangesResultsAndNothingElse) {
  setenv("MPS_FORCE_GRAPH_PATH", "1", 1);
  setenv("PYTORCH_MPS_TEST_BYTES", "\xff\xfe", 1);
  setenv("SECRET_TOKEN", "x", 1);
  const nlohmann::json environment = environment_in_force();
  EXPECT_EQ(environment["MPS_FORCE_GRAPH_PATH"], "1");
  EXPECT_FALSE(environment.contains("SECRET_TOKEN"));
  EXPECT_FALSE(environment.contains("PATH"));
  EXPECT_NO_THROW(environment.dump());
  unsetenv("MPS_FORCE_GRAPH_PATH");
  unsetenv("PYTORCH_MPS_TEST_BYTES");
  unsetenv("SECRET_TOKEN");
}

TEST(Image, OwnExecutableIsIdentified) {
  const LoadedImage image = image_of(reinterpret_cast<const void*>(&same_release));
  EXPECT_TRUE(std::filesystem::is_regular_file(image.path)) << image.path;
  EXPECT_NE(image.fingerprint, "");
  EXPECT_EQ(installation_folder(), std::filesystem::path(image.path).parent_path().parent_path());
#ifdef __APPLE__
  EXPECT_THAT(image.uuid, MatchesRegex("[0-9A-F]+-[0-9A-F]+-[0-9A-F]+-[0-9A-F]+-[0-9A-F]+"));
#endif
}

TEST(SymbolProbes, TellWhatTheProcessHas) {
  // at::get_num_threads() is in every LibTorch; Mach-O's spelling of it counts as well.
  const nlohmann::json answers = probed_symbols(
      " _ZN2at15get_num_threadsEv  __ZN2at15get_num_threadsEv _ZN2at3mps10noSuchThingEv ");
  EXPECT_EQ(answers, nlohmann::json({{"_ZN2at15get_num_threadsEv", true},
                                     {"__ZN2at15get_num_threadsEv", true},
                                     {"_ZN2at3mps10noSuchThingEv", false}}));
  EXPECT_EQ(probed_symbols(""), nlohmann::json::object());
}

TEST(InstalledTorch, ReadsWhatLiesBesideTheLibrary) {
  const nlohmann::json loaded = torch_provenance();
  const InstalledTorch files = read_installed_torch(loaded["path"].get<std::string>());
  EXPECT_EQ(files.fingerprint, loaded["fingerprint"].get<std::string>());
  EXPECT_EQ(files.version, loaded["version"].get<std::string>());
  EXPECT_EQ(read_installed_torch("/nonexistent/lib/x").version, "");
  EXPECT_EQ(read_installed_torch("/nonexistent/lib/x").fingerprint, "");
}

TEST(Provenance, VariablesOfTheLoaderAndTheAllocatorCount) {
  for (const char* name : {"LD_PRELOAD", "DYLD_LIBRARY_PATH", "MallocNanoZone", "OMP_NUM_THREADS",
                           "MTL_DEBUG_LAYER", "PYTORCH_MPS_FAST_MATH", "GLIBC_TUNABLES"}) {
    EXPECT_TRUE(changes_results(name)) << name;
  }
  for (const char* name : {"HOME", "PATH", "LANG", "GITHUB_TOKEN", "SSH_AUTH_SOCK"}) {
    EXPECT_FALSE(changes_results(name)) << name;
  }
}

}  // namespace
}  // namespace mpsprobe
