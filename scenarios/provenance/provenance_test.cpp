#include "scenarios/provenance/provenance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "scenarios/provenance/executable.h"
#include "scenarios/provenance/image.h"

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

TEST(Image, SymbolsOfTheProcessAreFound) {
  EXPECT_TRUE(process_has_symbol("malloc"));
  EXPECT_FALSE(process_has_symbol("_ZN2at3mps17noSuchFunctionEverEv"));
}

}  // namespace
}  // namespace mpsprobe
