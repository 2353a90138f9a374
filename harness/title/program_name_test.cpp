#include "harness/title/program_name.h"

#include <gtest/gtest.h>

#include "harness/title/operator_names.h"

namespace mpsprobe {
namespace {

TEST(ProgramNameLength, IsThatOfTheNameInFrontOfAMessage) {
  EXPECT_EQ(program_name_length("saver: no lane is left"), 7U);
  EXPECT_EQ(program_name_length("clipped_backward: no lane is left"), 18U);
  EXPECT_EQ(program_name_length("./lanes: no lane is left"), 9U);
  EXPECT_EQ(program_name_length("lanes.py: no lane is left"), 10U);
  EXPECT_EQ(program_name_length("[edge] no lane is left"), 7U);
  EXPECT_EQ(program_name_length("in take(): no lane is left"), 11U);
  EXPECT_EQ(program_name_length("stress: take_window: no lane is left"), 21U);
  EXPECT_EQ(program_name_length("rank 2: stress: no lane is left"), 16U);
  EXPECT_EQ(program_name_length("./lanes: addmm: no lane is left"), 9U);
  EXPECT_EQ(program_name_length("./lanes: /lanes/pool.so: no lane is left"), 9U);
  EXPECT_EQ(program_name_length("conv: vector::_M_range_check: __n >= this->size()"), 6U);
}

// Its name may be made of operators'.
TEST(ProgramNameLength, IsThatOfWhatIsInFrontOfAFatalError) {
  EXPECT_EQ(program_name_length("fused_conv: fatal: no lane is left"),
            std::string_view("fused_conv: fatal: ").size());
  EXPECT_EQ(program_name_length("fused_conv: no lane is left"), 0U);
}

TEST(ProgramNameLength, IsNoneOfAnOperatorAndOfWhatWentWrong) {
  for (const char* line :
       {"addmm: no lane is left", "mkldnn_linear_backward: no lane", "narrow_copy: no lane",
        "adaptive_avg_pool3d: no lane", "error: no lane is left", "Pool: no lane is left",
        "two words: no lane is left", "worker 2: no lane is left", "no lane is left", ""}) {
    EXPECT_EQ(program_name_length(line), 0U) << line;
  }
}

TEST(IsOperatorName, KnowsWhatKernelsMakeOfAName) {
  for (const char* name :
       {"addmm", "_addmm", "addmm_", "sparse_addmm", "addmm_out", "addmm_sparse_dense",
        "mkldnn_convolution_transpose_backward_weights", "max_pool3d_double_backward"}) {
    EXPECT_TRUE(is_operator_name(name)) << name;
  }
  for (const char* name : {"", "_", "2d", "lane", "take_window", "mkldnn_"}) {
    EXPECT_FALSE(is_operator_name(name)) << name;
  }
  EXPECT_FALSE(is_operator_name("lane" + std::string(100000, '_')));
}

}  // namespace
}  // namespace mpsprobe
