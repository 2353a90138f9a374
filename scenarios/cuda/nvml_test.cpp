#include "scenarios/cuda/nvml.h"

#include <gtest/gtest.h>

#include <filesystem>

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

TEST(NvidiaSystem, SaysNothingWhereThereIsNoDriver) {
  const NvidiaSystem system = nvidia_system();
  const bool driver = std::filesystem::exists("/dev/nvidiactl");
  EXPECT_EQ(system.driver.empty(), !driver) << system.driver;
  if (!driver) {
    EXPECT_EQ(system.gpus_in_words(), "");
  }
}

}  // namespace
}  // namespace mpsprobe
