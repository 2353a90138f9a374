#include "scenarios/cuda/nvml.h"

#include <gtest/gtest.h>

namespace mpsprobe {
namespace {

TEST(NvidiaSystem, NamesEachKindOfGpuOnceWithItsCount) {
  NvidiaSystem system;
  EXPECT_EQ(system.gpus_in_words(), "");
  system.gpus = {"NVIDIA H100 80GB HBM3"};
  EXPECT_EQ(system.gpus_in_words(), "NVIDIA H100 80GB HBM3");
  system.gpus = {"NVIDIA H200", "NVIDIA H200"};
  EXPECT_EQ(system.gpus_in_words(), "2 x NVIDIA H200");
  system.gpus = {"NVIDIA L4", "NVIDIA H200", "NVIDIA L4"};
  EXPECT_EQ(system.gpus_in_words(), "2 x NVIDIA L4, NVIDIA H200");
}

TEST(NvidiaSystem, IsAskedWithoutHarmWhereThereIsNone) {
  const NvidiaSystem system = nvidia_system();
  EXPECT_EQ(system.gpus.empty(), system.gpus_in_words().empty());
}

}  // namespace
}  // namespace mpsprobe
