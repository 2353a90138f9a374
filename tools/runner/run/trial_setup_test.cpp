#include "tools/runner/run/trial_setup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

TEST(DefaultRunFolder, AThousandRunsOfOneSecondHaveOneEach) {
  char pattern[] = "/tmp/mpsprobe-folders-XXXXXX";
  const fs::path folder = mkdtemp(pattern);
  const fs::path before = fs::current_path();
  fs::current_path(folder);
  constexpr size_t kThreads = 8;
  constexpr int kRuns = 125;
  std::vector<std::vector<fs::path>> made(kThreads);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&made, i] {
      for (int run = 0; run < kRuns; ++run) {
        made[i].push_back(make_default_run_folder("2026-01-31T12:34:56.000Z", "quick"));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::string> all;
  for (const auto& each : made) {
    for (const fs::path& path : each) {
      EXPECT_TRUE(fs::is_directory(path)) << path;
      all.insert(path.string());
    }
  }
  EXPECT_EQ(all.size(), kThreads * kRuns);
  fs::current_path(before);
  fs::remove_all(folder);
}

TEST(OtherLibrary, IsCalledByItsName) {
  const auto worker = [](const char* version) {
    return nlohmann::json{
        {"provenance", {{"mlx", {{"version", version}, {"path", "/lib/libmlx.so"}}}}}};
  };
  EXPECT_EQ(other_library(worker("0.31.1"), worker("0.31.1")), "");
  EXPECT_EQ(other_library(worker("0.31.1"), worker("0.31.2")),
            "loads MLX 0.31.2 at /lib/libmlx.so now, and loaded MLX 0.31.1 at /lib/libmlx.so when "
            "the run began");
  EXPECT_EQ(other_library({}, {}), "");
}

}  // namespace
}  // namespace mpsprobe
