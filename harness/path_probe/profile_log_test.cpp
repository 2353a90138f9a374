#include "harness/path_probe/profile_log.h"

#include <gmock/gmock.h>

#include <string>

namespace mpsprobe {
namespace {

using testing::HasSubstr;

// Put together from LibTorch's own formats (2.15.0: MPSProfiler.mm, MPSProfiler.h, Linear.mm).
constexpr const char* kLoggedKernel =
    "aten::mps_linear:MPS:Float[32, 64]:MPS:Float[64, 64]:MPS:Float[64] (id=K2, run=1)\n";
constexpr const char* kLoggedGraph =
    "aten::mps_linear:f32[32,64]:f32[64,64]:f32[64] (id=G1, run=1)\n";
constexpr const char* kLoggedRelu =
    "aten::relu_dense_float_float:MPS:Float[32, 64] (id=K3, run=1)\n";

std::string logged_path(const std::string& log) {
  const PathSeen seen = path_in_profile_log(log);
  EXPECT_EQ(seen.why.empty(), seen.path != "not observed") << seen.why;
  return seen.path;
}
std::string unseen_why(const std::string& log) {
  return path_in_profile_log(log).why;
}

TEST(ProfileLog, TellsAGraphFromAKernel) {
  EXPECT_EQ(logged_path(kLoggedKernel), "nograph");
  EXPECT_EQ(logged_path(kLoggedGraph), "graph");
}

TEST(ProfileLog, OtherOperationsAndOtherTextSayNothingOfLinear) {
  const std::string noise = std::string("a warning\n") + kLoggedRelu +
                            "aten::mm_out_mps_impl:f32[4,4] (id=G7, run=2)\n"
                            "CPU Fallback::nonzero (id=1, run=1, CopyOverhead=12 bytes)\n"
                            "BlitCopySync: CPU:Float[4] --> MPS:Float[4] (len=16 bytes)\n\n";
  EXPECT_EQ(logged_path(noise + kLoggedKernel + noise), "nograph");
  EXPECT_EQ(logged_path(noise + kLoggedGraph + noise), "graph");
  EXPECT_THAT(unseen_why(noise),
              HasSubstr("does not name linear; it names mm_out_mps_impl, relu_dense"));
}

TEST(ProfileLog, TimesMayFollow) {
  EXPECT_EQ(logged_path("aten::mps_linear:f32[1] (id=G1, run=12, gpu=0.324 ms, cpu=0.036 ms)\n"),
            "graph");
}

TEST(ProfileLog, WhatIsNotThereIsNotObserved) {
  EXPECT_THAT(unseen_why(""), HasSubstr("printed no profile log"));
  EXPECT_THAT(unseen_why(std::string(kLoggedGraph) + kLoggedKernel), HasSubstr("both paths"));
}

TEST(ProfileLog, ALineThatIsNotWholeSaysNothing) {
  const std::string whole = kLoggedGraph;
  EXPECT_EQ(logged_path(whole.substr(0, whole.size() - 1)), "not observed");
  for (size_t length = 1; length + 1 < whole.size(); ++length) {
    EXPECT_EQ(logged_path(whole.substr(0, length)), "not observed") << length;
    EXPECT_EQ(logged_path(whole.substr(0, length) + "\n"), "not observed") << length;
    EXPECT_EQ(logged_path(whole.substr(length)), "not observed") << length;
  }
}

TEST(ProfileLog, HostileTextIsPassedOver) {
  for (const char* line :
       {"aten::mps_linear (id=X1, run=1)\n", "aten::mps_linear (id=G, run=1)\n",
        "aten::mps_linear (id=G1, run=)\n", "aten::mps_linear (id=G1, run=1]\n",
        "aten::mps_linear (id=G1, run=1) and more\n", "aten::mps_linear (id=G1; run=1)\n",
        " aten::mps_linear (id=G1, run=1)\n", "aten::mps_linear_backward:f (id=G1, run=1)\n",
        "aten::linear:mps_linear (id=G1, run=1)\n", "aten:: (id=K1, run=1)\n"}) {
    EXPECT_EQ(logged_path(line), "not observed") << line;
    EXPECT_EQ(logged_path(std::string(line) + kLoggedKernel), "nograph") << line;
  }
  // The last of them is LibTorch's; a key may hold anything.
  EXPECT_EQ(logged_path("aten::mps_linear:(id=G1, run=1) (id=K1, run=1)\n"), "nograph");
  const std::string bytes("\0\xff\x1b[31m", 7);
  EXPECT_EQ(logged_path(bytes + "\n" + kLoggedGraph + bytes), "graph");
  const std::string names = "aten::" + std::string(1 << 20, 'x') + " (id=G1, run=1)\n";
  EXPECT_LT(unseen_why(names).size(), 200U);
  EXPECT_EQ(logged_path(names + kLoggedGraph), "graph");
}

}  // namespace
}  // namespace mpsprobe
