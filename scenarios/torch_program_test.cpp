#include "scenarios/torch_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "harness/wire/event.h"
#include "scenarios/backends/backend.h"

namespace mpsprobe {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Cell cell_of(Backend backend, std::string_view op = "linear") {
  Cell cell;
  cell.backend = backend;
  cell.op = op;
  return cell;
}

template <typename Error>
std::string refusal(WorkerProgram& program, const Cell& cell) {
  try {
    program.make_workload(cell, 1);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(TorchProgram, DescribesOperationsBackendsAndProvenance) {
  const json description = make_torch_program()->describe();
  EXPECT_EQ(description["mpsprobe_worker"], kProtocolVersion);
  EXPECT_FALSE(description["version"].get<std::string>().empty());
  std::map<std::string, json> operations;
  for (const json& each : description["operations"]) {
    operations[each["name"]] = each;
  }
  EXPECT_THAT(operations["linear"]["paths"], ElementsAre("default", "nograph", "graph"));
  EXPECT_EQ(operations["linear"]["has_parameters"], true);
  EXPECT_EQ(operations["linear"]["shape"], "8x64x64");
  EXPECT_THAT(operations["linear"]["dtypes"], ElementsAre("float32", "float16", "bfloat16"));
  EXPECT_THAT(operations["mm"]["paths"], ElementsAre("default"));
  EXPECT_EQ(operations["mm"]["has_parameters"], false);
  std::map<std::string, json> backends;
  for (const json& each : description["backends"]) {
    backends[each["name"]] = each;
    // Every backend that is not there says why, and only those.
    EXPECT_EQ(each["available"].get<bool>(), each["reason"].get<std::string>().empty()) << each;
  }
  EXPECT_EQ(backends.size(), 5u);
  EXPECT_EQ(backends["cpu"]["available"], true);
  EXPECT_EQ(backends["cpu"]["simulated"], false);
  EXPECT_EQ(backends["sim"]["simulated"], true);
  EXPECT_THAT(description["provenance"]["torch"]["path"].get<std::string>(),
              HasSubstr("libtorch_cpu"));
}

TEST(TorchProgram, ProvenanceNamesTheCellsDevice) {
  const json provenance = make_torch_program()->provenance(cell_of(Backend::cpu));
  EXPECT_EQ(provenance["device"]["backend"], "cpu");
  EXPECT_EQ(provenance["device"]["simulated"], false);
  EXPECT_TRUE(provenance["environment"].is_object());
}

TEST(TorchProgram, WhatIsNotThereIsUnsupportedWithAReason) {
  const auto program = make_torch_program();
  EXPECT_THAT(refusal<UnsupportedError>(*program, cell_of(Backend::cpu, "conv9d")),
              AllOf(HasSubstr("op=conv9d"), HasSubstr("transformer_layer")));
  EXPECT_THAT(refusal<UnsupportedError>(*program, cell_of(Backend::metal)), HasSubstr("metal"));
#ifndef __APPLE__
  EXPECT_THAT(refusal<UnsupportedError>(*program, cell_of(Backend::mps)), HasSubstr("macOS"));
#endif
  Cell streams = cell_of(Backend::cpu);
  streams.stream = StreamUse::per_thread;
  EXPECT_THAT(refusal<UnsupportedError>(*program, streams), HasSubstr("no streams"));
}

TEST(TorchProgram, CudaIsThereOrItIsSaidWhyNot) {
  const auto reports = report_backends();
  const auto cuda = std::find_if(reports.begin(), reports.end(), [](const BackendReport& report) {
    return report.backend == Backend::cuda;
  });
  ASSERT_NE(cuda, reports.end());
  if (cuda->available) {
    EXPECT_FALSE(cuda->device.empty());
    return;
  }
  EXPECT_THAT(cuda->reason, ::testing::Not(::testing::IsEmpty()));
  const auto program = make_torch_program();
  EXPECT_THAT(refusal<UnsupportedError>(*program, cell_of(Backend::cuda)),
              AllOf(HasSubstr("backend cuda"), HasSubstr("CUDA")));
}

TEST(TorchProgram, AMissingSimulatedDeviceOrProfileIsASetUpErrorThatNamesIt) {
  const auto program = make_torch_program();
  Cell cell = cell_of(Backend::sim);
  for (const char* profile : {"no-such-profile", "../../etc/passwd", ""}) {
    cell.profile = profile;
    EXPECT_THAT(refusal<SetupError>(*program, cell), HasSubstr("MPSPROBE_PROFILES")) << profile;
  }
  const std::string folder = ::testing::TempDir();
  std::filesystem::path profile = std::filesystem::path(folder) / "mpsprobe-test-profile.json";
  fclose(fopen(profile.c_str(), "w"));
  setenv("MPSPROBE_PROFILES", folder.c_str(), 1);
  setenv("MPSPROBE_SIM_LIBRARY", "/nowhere/libmpsprobe_sim.so", 1);
  cell.profile = "mpsprobe-test-profile";
  EXPECT_THAT(refusal<SetupError>(*program, cell), HasSubstr("/nowhere/libmpsprobe_sim.so"));
  unsetenv("MPSPROBE_SIM_LIBRARY");
  unsetenv("MPSPROBE_PROFILES");
  std::filesystem::remove(profile);
}

#ifdef __linux__
TEST(TorchProgram, LibTorchAddsNoThreadsOfItsOwn) {
  const auto program = make_torch_program();
  program->begin();
  Cell cell = cell_of(Backend::cpu, "mm");
  cell.shape = "512x512x512";
  const auto workload = program->make_workload(cell, 1);
  const auto lane = workload->make_lane(0);
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
  };
  const auto before = threads();
  std::thread([&] {
    lane->enter();
    lane->launch(0);
    lane->synchronise();
    EXPECT_EQ(threads(), before + 1);
  }).join();
  EXPECT_EQ(lane->check().difference, "");
}
#endif

}  // namespace
}  // namespace mpsprobe
