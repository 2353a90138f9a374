#include "scenarios/sim/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "harness/input/input_error.h"

namespace mpsprobe::sim {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string with_defect(const std::string& defect) {
  return R"({"mpsprobe_profile":1,"name":"p","defects":[)" + defect + "]}";
}

/// The message with which `text` is refused; fails the test where it is accepted.
std::string refusal(const std::string& text) {
  try {
    parse_profile(text, "p.json");
  } catch (const InputError& error) {
    EXPECT_THAT(error.place(), testing::StartsWith("p.json"));
    EXPECT_FALSE(error.remedy().empty());
    return error.what();
  }
  ADD_FAILURE() << "accepted: " << text;
  return "";
}

TEST(Profile, ReadsEveryKey) {
  const Profile profile = parse_profile(
      R"({"mpsprobe_profile":1,"name":"all.keys_1","description":"d","streams":"per-thread",
          "defects":[{"ops":["randn","linear"],"paths":["graph","blit"],"slots":3,"hold_us":7,
                      "beyond":"assertion","text":"t","place":"-[X y]","rate":0.5,
                      "until_initialised":true,"one_object":true,"at_exit":true,"from_encode":6,
                      "env":"PYTORCH_MPS_FAST_MATH=1"}]})",
      "p.json");
  EXPECT_EQ(profile.name, "all.keys_1");
  EXPECT_EQ(profile.description, "d");
  EXPECT_EQ(profile.streams, Streams::per_thread);
  ASSERT_EQ(profile.defects.size(), 1u);
  const Defect& defect = profile.defects[0];
  EXPECT_THAT(defect.ops, testing::ElementsAre("randn", "linear"));
  EXPECT_THAT(defect.paths, testing::ElementsAre(EncodePath::graph, EncodePath::blit));
  EXPECT_EQ(defect.slots, 3);
  EXPECT_EQ(defect.hold_us, 7);
  EXPECT_EQ(defect.beyond, Beyond::assertion);
  EXPECT_EQ(defect.text, "t");
  EXPECT_EQ(defect.place, "-[X y]");
  EXPECT_EQ(defect.rate, 0.5);
  EXPECT_TRUE(defect.until_initialised);
  EXPECT_TRUE(defect.one_object);
  EXPECT_TRUE(defect.at_exit);
  EXPECT_EQ(defect.from_encode, 6);
  EXPECT_EQ(defect.env, "PYTORCH_MPS_FAST_MATH=1");
  EXPECT_FALSE(defect.once_warm);
}

TEST(Profile, ADefectIsOnceWarmOrUntilInitialised) {
  const Profile warm = parse_profile(
      with_defect(R"({"ops":["mm"],"slots":1,"hold_us":0,"beyond":"hang","once_warm":true})"),
      "p.json");
  EXPECT_TRUE(warm.defects[0].once_warm);
  EXPECT_THAT(
      refusal(with_defect(
          R"({"ops":["mm"],"slots":1,"hold_us":0,"beyond":"hang","once_warm":true,"until_initialised":true})")),
      HasSubstr("leave no encode"));
}

TEST(Profile, ConcernsByOperationByKernelAndByWildcardButNeverPureAllocation) {
  const auto concerns = [](const std::string& ops, const char* op, EncodePath path) {
    const Profile profile = parse_profile(
        with_defect("{\"ops\":" + ops + R"(,"slots":1,"hold_us":0,"beyond":"hang"})"), "p.json");
    return profile.defects[0].concerns(*find_operation(op), path);
  };
  EXPECT_TRUE(concerns(R"(["ones"])", "ones", EncodePath::graph));
  EXPECT_FALSE(concerns(R"(["ones"])", "full", EncodePath::graph));
  EXPECT_TRUE(concerns(R"(["fill_"])", "full", EncodePath::graph));
  EXPECT_TRUE(concerns(R"(["*"])", "zeros", EncodePath::blit));
  EXPECT_FALSE(concerns(R"(["*"])", "empty", EncodePath::none));
}

TEST(Profile, HashIsFnv1aOfTheBytes) {
  const std::string text = with_defect("");
  EXPECT_EQ(parse_profile(text, "p").hash.size(), 16u);
  EXPECT_EQ(parse_profile(text, "p").hash, parse_profile(text, "q").hash);
  EXPECT_NE(parse_profile(text, "p").hash, parse_profile(text + " ", "p").hash);
}

TEST(Profile, RefusesWhatIsNoProfile) {
  EXPECT_THAT(refusal(""), HasSubstr("is not JSON"));
  EXPECT_THAT(refusal("[]"), HasSubstr("is not an object"));
  EXPECT_THAT(refusal("\xff\xfe\x01"), HasSubstr("is not JSON"));
  EXPECT_THAT(refusal(std::string(100000, '[')), HasSubstr("nested deeper than 16"));
  EXPECT_THAT(refusal(R"({"name":"p","defects":[]})"),
              HasSubstr("the key \"mpsprobe_profile\" is missing"));
  EXPECT_THAT(refusal(R"({"mpsprobe_profile":2,"name":"p","defects":[]})"),
              HasSubstr("mpsprobe_profile: is not a number that is possible here"));
  EXPECT_THAT(refusal(R"({"mpsprobe_profile":1,"name":"a b","defects":[]})"),
              HasSubstr("not a plain name"));
  EXPECT_THAT(refusal(R"({"mpsprobe_profile":1,"name":"p"})"),
              HasSubstr("the key \"defects\" is missing"));
  EXPECT_THAT(refusal(R"({"mpsprobe_profile":1,"name":"p","defects":{}})"),
              HasSubstr("is not a list"));
  EXPECT_THAT(refusal(R"({"mpsprobe_profile":1,"name":"p","defects":[],"defect":1})"),
              HasSubstr("defect: is not a key that is known here"));
  EXPECT_THAT(refusal(R"({"mpsprobe_profile":1,"name":"p","name":"q","defects":[]})"),
              HasSubstr("the key \"name\" twice"));
  EXPECT_THAT(refusal(R"({"mpsprobe_profile":1,"name":"p","streams":"own","defects":[]})"),
              HasSubstr("shared or per-thread"));
}

TEST(Profile, RefusesABrokenDefectAndSaysWhichKeyOfWhichDefect) {
  const auto defect = [](const std::string& change) {
    return refusal(
        with_defect(R"({"ops":["mm"],"slots":1,"hold_us":1,"beyond":"hang"},)" + change));
  };
  EXPECT_THAT(defect(R"({"ops":["liner"],"slots":1,"hold_us":1,"beyond":"hang"})"),
              AllOf(HasSubstr("p.json: defects[1].ops[0]: no operation of this name is encoded"),
                    HasSubstr("linear"), HasSubstr("Known: ")));
  EXPECT_THAT(defect(R"({"ops":[],"slots":1,"hold_us":1,"beyond":"hang"})"),
              HasSubstr("ops: is not a list"));
  EXPECT_THAT(defect(R"({"ops":["*","mm"],"slots":1,"hold_us":1,"beyond":"hang"})"),
              HasSubstr("mixes"));
  EXPECT_THAT(defect(R"({"ops":["mm"],"paths":["none"],"slots":1,"hold_us":1,"beyond":"hang"})"),
              HasSubstr("no such path"));
  EXPECT_THAT(defect(R"({"ops":["mm"],"slots":-1,"hold_us":1,"beyond":"hang"})"),
              HasSubstr("slots: is not a number that is possible here"));
  EXPECT_THAT(defect(R"({"ops":["mm"],"slots":18446744073709551615,"hold_us":1,"beyond":"hang"})"),
              HasSubstr("slots: is not a number that is possible here"));
  EXPECT_THAT(defect(R"({"ops":["mm"],"slots":1.5,"hold_us":1,"beyond":"hang"})"),
              HasSubstr("slots: is not a whole number"));
  EXPECT_THAT(defect(R"({"ops":["mm"],"slots":1,"hold_us":10000001,"beyond":"hang"})"),
              HasSubstr("hold_us: is not a number that is possible here. Write 0 to 10000000"));
  EXPECT_THAT(defect(R"({"ops":["mm"],"slots":1,"hold_us":1,"beyond":"explode"})"),
              HasSubstr("is no kind of defect. Known: null_dereference"));
  EXPECT_THAT(defect(R"({"ops":["mm"],"slots":1,"hold_us":1,"beyond":"assertion"})"),
              HasSubstr("the key \"text\" is missing"));
  EXPECT_THAT(defect(R"({"ops":["mm"],"slots":1,"hold_us":1,"beyond":"hang","text":"x"})"),
              HasSubstr("text: means nothing for this kind"));
  EXPECT_THAT(
      defect(R"({"ops":["mm"],"slots":1,"hold_us":1,"beyond":"exception","text":"a\u001b[2Jb"})"),
      HasSubstr("control character"));
  EXPECT_THAT(defect(R"({"ops":["mm"],"slots":1,"hold_us":1,"beyond":"hang","rate":1.01})"),
              HasSubstr("rate: is not a number that is possible here. Write 0 to 1"));
  EXPECT_THAT(
      defect(R"({"ops":["mm"],"slots":1,"hold_us":1,"beyond":"hang","until_initialised":1})"),
      HasSubstr("neither true nor false"));
  EXPECT_THAT(defect(R"({"ops":["mm"],"slots":1,"hold_us":1,"beyond":"hang","once_warm":1})"),
              HasSubstr("neither true nor false"));
  EXPECT_THAT(
      defect(
          R"({"ops":["mm"],"slots":1,"hold_us":1,"beyond":"hang","env":"PYTORCH_MPS_FAST_MATH"})"),
      HasSubstr("no variable with its value"));
  EXPECT_THAT(
      defect(R"({"ops":["mm"],"slots":1,"hold_us":1,"beyond":"hang","env":"PYTORCH_MPS_NONE=1"})"),
      HasSubstr("Known: PYTORCH_MPS_FAST_MATH"));
  EXPECT_THAT(defect(R"({"ops":["mm"],"slots":1,"hold_us":1,"beyond":"hang","from_encode":0})"),
              HasSubstr("from_encode: is not a number"));
}

TEST(Profile, AHostileKeyDoesNotReachTheTerminal) {
  const std::string message =
      refusal(R"({"mpsprobe_profile":1,"name":"p","defects":[],"\u001b[2J":1})");
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
  EXPECT_THAT(message, HasSubstr("not a key that is known"));
}

TEST(Profile, RefusesFilesThatCannotBeRead) {
  EXPECT_THROW(load_profile("/does/not/exist.json"), InputError);
  EXPECT_THROW(load_profile(MPSPROBE_SOURCE_DIR), InputError);
  EXPECT_THROW(load_profile("/dev/zero"), InputError);
}

TEST(Profile, EveryShippedProfileIsValidAndNamedAsItsFile) {
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(MPSPROBE_SOURCE_DIR) / "scenarios/sim/profiles")) {
    const Profile profile = load_profile(entry.path().string());
    EXPECT_EQ(profile.name + ".json", entry.path().filename());
    EXPECT_FALSE(profile.description.empty()) << profile.name;
    ++seen;
  }
  EXPECT_GE(seen, 10);
}

}  // namespace
}  // namespace mpsprobe::sim
