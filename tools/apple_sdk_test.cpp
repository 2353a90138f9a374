// cmake/macos/apple_sdk and tools/fetch-source, as far as they can be told without Apple's files
// and a network.
#include <gmock/gmock.h>

#include "tools/runner/program_fixture_for_tests.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class AppleSdk : public ProgramTest {
 protected:
  Run lay_out(const std::string& variables = "") const {
    return shell("unset MPSPROBE_MACOS_SDK; " + variables +
                 " '" MPSPROBE_SOURCE_DIR "/cmake/macos/apple_sdk' laid");
  }
  void header(const std::string& file) const {
    fs::create_directories((folder_ / file).parent_path());
    write(file, "");
  }
};

// Both layouts come out as Apple's, and what is missing there is ours.
TEST_F(AppleSdk, IsLaidOutAsApplesWhicheverWayItCame) {
  header("MacOSX.sdk/usr/include/c++/v1/__config");
  header("MacOSX.sdk/System/Library/Frameworks/Metal.framework/Headers/Metal.h");
  header("checkout/include/c++/v1/__config");
  header("checkout/Frameworks/Metal.framework/Headers/Metal.h");
  for (const char* given : {"MacOSX.sdk", "checkout"}) {
    const Run run = lay_out("MPSPROBE_MACOS_SDK=" + std::string(given));
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_TRUE(fs::exists(folder_ / "laid/sdk/usr/include/c++/v1/__config")) << given;
    EXPECT_TRUE(fs::exists(folder_ / "laid/sdk/System/Library/Frameworks/Metal.framework/Headers"));
    EXPECT_FALSE(fs::exists(folder_ / "laid/gaps/Metal.framework")) << given;
    EXPECT_TRUE(fs::exists(folder_ / "laid/gaps/MetalPerformanceShaders.framework/Headers"));
  }
}

TEST_F(AppleSdk, ThatIsNoneIsRefusedAndNoneAtAllIsSaid) {
  const Run wrong = lay_out("MPSPROBE_MACOS_SDK=nosuch");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("MPSPROBE_MACOS_SDK=nosuch has no usr/include/c++/v1: name a"));
  if (!fs::exists(MPSPROBE_SOURCE_DIR "/.deps/macos/xcode-frameworks")) {
    const Run none = lay_out();
    EXPECT_EQ(none.exit_code, 1);
    EXPECT_THAT(none.err, HasSubstr("name one with MPSPROBE_MACOS_SDK"));
  }
}

TEST_F(AppleSdk, FetchSourceTakesANameAndANewFolder) {
  const auto fetch = [this](const std::string& arguments) {
    return shell("'" MPSPROBE_SOURCE_DIR "/tools/fetch-source' " + arguments);
  };
  EXPECT_EQ(fetch("pcre2").exit_code, 2);
  EXPECT_THAT(fetch("'../x y' new").err, HasSubstr("no name of a package"));
  fs::create_directory(folder_ / "there");
  EXPECT_THAT(fetch("pcre2 there").err, HasSubstr("there exists already"));
  EXPECT_EQ(fetch("--help").exit_code, 0);
}

}  // namespace
}  // namespace mpsprobe
