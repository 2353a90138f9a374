#include "harness/executor/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mpsprobe {
namespace {

using testing::Contains;
using testing::Not;

TEST(WorkerEnvironment, ThePathIsInForceBeforeTheProcessStarts) {
  const Cell graph = parse_cell("mps/linear/graph/threads=2");
  EXPECT_THAT(worker_environment(graph, {"PATH=/bin"}, {}), Contains("MPS_FORCE_GRAPH_PATH=1"));
  EXPECT_THAT(worker_environment(graph, {"PATH=/bin"}, {}), Contains("PATH=/bin"));
  const Cell without_torch = parse_cell("metal/linear/graph/threads=2");
  EXPECT_THAT(worker_environment(without_torch, {}, {}), Not(Contains("MPS_FORCE_GRAPH_PATH=1")));
}

TEST(WorkerEnvironment, WhatTheCallerHadSetDoesNotDecideForTheCell) {
  const Cell cell = parse_cell("mps/linear/nograph/threads=2");
  const auto environment = worker_environment(
      cell, {"MPS_FORCE_GRAPH_PATH=1", "MTL_DEBUG_LAYER=1", "PYTORCH_MPS_LOG_PROFILE_INFO=-1"}, {});
  EXPECT_THAT(environment, Not(Contains("PYTORCH_MPS_LOG_PROFILE_INFO=-1")));
  EXPECT_THAT(environment, Not(Contains("MPS_FORCE_GRAPH_PATH=1")));
  EXPECT_THAT(environment, Not(Contains("MTL_DEBUG_LAYER=1")));
}

TEST(WorkerEnvironment, ACellSetsAndUnsetsVariables) {
  const Cell cell = parse_cell("mps/mm/graph/threads=2/env.A=1/env.B=unset/env.C=2");
  const auto environment = worker_environment(cell, {"A=0", "B=0", "D=0"}, {}, System::other);
  EXPECT_THAT(environment,
              testing::UnorderedElementsAre("A=1", "C=2", "D=0", "MPS_FORCE_GRAPH_PATH=1"));
  const Cell against = parse_cell("mps/mm/graph/threads=2/env.MPS_FORCE_GRAPH_PATH=unset");
  EXPECT_THAT(worker_environment(against, {}, {}, System::other), testing::IsEmpty());
}

// libmalloc's malloc_print_configure: without it the text goes to a terminal alone.
TEST(WorkerEnvironment, OnMacosMallocSaysWhyItEndsAProcessUnlessTheUserWantsOtherwise) {
  const Cell cell = parse_cell("mps/mm/default/threads=2");
  const auto on_macos = [&](const std::vector<std::string>& inherited,
                            const std::vector<std::string>& extra, const Cell& of) {
    return worker_environment(of, inherited, extra, System::macos);
  };
  EXPECT_THAT(on_macos({}, {}, cell), testing::ElementsAre("MallocDebugReport=crash"));
  EXPECT_THAT(on_macos({"MallocDebugReport=none"}, {}, cell),
              testing::ElementsAre("MallocDebugReport=none"));
  EXPECT_THAT(on_macos({}, {"MallocDebugReport=stderr"}, cell),
              testing::ElementsAre("MallocDebugReport=stderr"));
  EXPECT_THAT(on_macos({}, {}, parse_cell("mps/mm/default/threads=2/env.MallocDebugReport=unset")),
              testing::IsEmpty());
  EXPECT_THAT(worker_environment(cell, {}, {}, System::other), testing::IsEmpty());
}

TEST(WorkerEnvironment, WhatIsGivenWithEnvWins) {
  const Cell cell = parse_cell("mps/linear/graph/threads=2");
  EXPECT_THAT(worker_environment(cell, {}, {"MPS_FORCE_GRAPH_PATH=0"}),
              Contains("MPS_FORCE_GRAPH_PATH=0"));
}

TEST(WorkerEnvironment, WhatTheUserSetsForThreadSanitizerWins) {
  const Cell cell = parse_cell("cpu/mm/default/threads=2/sanitizer=thread");
  const auto options = [&](const std::vector<std::string>& extra) {
    for (const std::string& entry : worker_environment(cell, {}, extra)) {
      if (entry.starts_with("TSAN_OPTIONS=")) return entry;
    }
    return std::string();
  };
  EXPECT_THAT(options({}), testing::HasSubstr("halt_on_error=0"));
  EXPECT_THAT(options({"TSAN_OPTIONS=halt_on_error=1"}), testing::EndsWith(":halt_on_error=1"));
  EXPECT_THAT(worker_environment(parse_cell("cpu/mm/default/threads=2"), {}, {}, System::other),
              testing::IsEmpty());
}

TEST(WorkerEnvironment, ValidationCountsOnlyWhereItsBannerWasSeen) {
  const Cell api = parse_cell("mps/mm/default/threads=1/validation=api");
  EXPECT_THAT(worker_environment(api, {}, {}), Contains("MTL_DEBUG_LAYER=1"));
  EXPECT_FALSE(validation_in_force(api, "nothing"));
  EXPECT_TRUE(validation_in_force(api, "worker[1:2] Metal API Validation Enabled\n"));
  const Cell shader = parse_cell("mps/mm/default/threads=1/validation=api+shader");
  EXPECT_THAT(worker_environment(shader, {}, {}),
              Contains("MTL_SHADER_VALIDATION_REPORT_TO_STDERR=1"));
  EXPECT_FALSE(validation_in_force(shader, "Metal API Validation Enabled\n"));
  EXPECT_TRUE(validation_in_force(parse_cell("mps/mm/default/threads=1"), ""));
}

}  // namespace
}  // namespace mpsprobe
