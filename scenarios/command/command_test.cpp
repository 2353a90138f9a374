#include "scenarios/command/command.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace mpsprobe {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(CommandWords, ParametersAreFilledInAndOtherBracesStay) {
  const Parameters parameters{{"threads", "4"}, {"batch", "64"}};
  EXPECT_EQ(filled_in("--workers={threads}x{batch}", parameters), "--workers=4x64");
  EXPECT_EQ(filled_in("{print $1}", parameters), "{print $1}");
  EXPECT_EQ(filled_in("{\"n\": {threads}}", parameters), "{\"n\": 4}");
  EXPECT_EQ(filled_in("{} {{threads}} {other}", parameters), "{} {4} {other}");
  EXPECT_EQ(filled_in("{threads", parameters), "{threads");
}

TEST(CommandWords, OnlyAMistypedParameterIsAMistake) {
  const std::vector<std::string> known{"threads", "processes"};
  const auto of = [&](const char* word) {
    return mistyped_parameter(OwnCommand{{"tool", word}, "/", {}, {}}, known);
  };
  EXPECT_THAT(of("{thread}"), HasSubstr("did you mean \"threads\""));
  EXPECT_THAT(of("{threads}"), IsEmpty());
  EXPECT_THAT(of("{batch}"), IsEmpty());
  EXPECT_THAT(of("{print}"), IsEmpty());
}

TEST(CommandWords, AnOperationIsCalledByItsScript) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "mpsprobe-command-words";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "Train It.py") << "";
  const auto name = [&](std::vector<std::string> words) {
    return operation_name(OwnCommand{std::move(words), folder.string(), {}, {}});
  };
  EXPECT_EQ(name({"python3.12", "-X", "dev", "Train It.py", "--fast"}), "train_it.py");
  EXPECT_EQ(name({"/usr/bin/python", "-m", "pkg.main"}), "pkg.main");
  EXPECT_EQ(name({"./ring", "Train It.py"}), "ring");
  EXPECT_EQ(name({"sh", "-c", "exit 1"}), "sh");
  EXPECT_EQ(name({std::string(60, 'a')}), std::string(40, 'a'));
  std::filesystem::remove_all(folder);
}

TEST(CommandWords, AProgramIsFoundAsTheShellDoes) {
  EXPECT_THAT(program_path("sh", "/"), HasSubstr("/sh"));
  EXPECT_EQ(program_path("./sh", "/bin"), "/bin/./sh");
  EXPECT_THAT(program_path("no-such-program-here", "/"), IsEmpty());
  EXPECT_THAT(program_path("/etc", "/"), IsEmpty()) << "a folder";
}

}  // namespace
}  // namespace mpsprobe
