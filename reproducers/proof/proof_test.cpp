#include "reproducers/proof/proof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/input/input_error.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ProofTest : public testing::Test {
 protected:
  ProofTest() : folder_(fs::temp_directory_path() / ("proof-test=" + std::to_string(getpid()))) {}
  ~ProofTest() override { fs::remove_all(folder_); }

  ProofRequest request_for(const std::string& cell, Kind kind,
                           Outcome outcome = Outcome::signal) const {
    ProofRequest request{.kinds = {kind}, .simulated = true, .work = folder_};
    request.what = {.cell = parse_cell(cell),
                    .signature = "SIGSEGV",
                    .outcome = outcome,
                    .watermark = "SIMULATED",
                    .programs = MPSPROBE_SOURCE_DIR "/reproducers/programs"};
    request.data = MPSPROBE_BINARY_DIR "/share/mpsprobe";
    request.libraries = MPSPROBE_BINARY_DIR "/lib";
#ifdef MPSPROBE_TORCH_LIBRARY
    request.library = MPSPROBE_TORCH_LIBRARY;
#endif
    return request;
  }

  fs::path folder_;
};

std::string shown(const std::vector<Proof>& proofs) {
  return to_json(proofs).dump(1);
}

const Proof& arm_of(const Proved& proved, ProofArm arm) {
  static const Proof kNone;
  const auto found = std::find_if(proved.proofs.begin(), proved.proofs.end(),
                                  [&](const Proof& proof) { return proof.arm == arm; });
  EXPECT_NE(found, proved.proofs.end()) << name_of(arm) << ": " << shown(proved.proofs);
  return found == proved.proofs.end() ? kNone : *found;
}

// The program for LibTorch is proved in ReproRun, which needs it proved.
#ifdef MPSPROBE_HAS_METAL_FACE
// Each way to put work on the device, and each kind of failure.
TEST_F(ProofTest, TheMetalProgramsFailWithTheDefectAndPassWithout) {
  const std::pair<const char*, Outcome> kCells[] = {
      {"metal/linear/nograph/threads=3", Outcome::signal},
      {"metal/linear/graph/threads=4", Outcome::signal},
      {"metal/linear/nograph/threads=4/profile=wrong-numbers", Outcome::wrong_result},
      {"metal/linear/graph/threads=4/profile=gpu-error", Outcome::gpu_error},
      {"metal/linear/nograph/threads=4/profile=hang", Outcome::hang},
  };
  for (const auto& [cell, outcome] : kCells) {
    const Proved proved = prove(request_for(cell, Kind::metal, outcome));
    for (const ProofArm arm : {ProofArm::build, ProofArm::clean, ProofArm::failing}) {
      EXPECT_TRUE(arm_of(proved, arm).held) << cell << shown(proved.proofs);
    }
    const Proof& rate = arm_of(proved, ProofArm::rate);
    EXPECT_GT(rate.k, 0) << cell;
    ASSERT_TRUE(rate.program.has_value()) << cell;
    ASSERT_EQ(proved.emissions.size(), 1U);
    EXPECT_THAT(proved.emissions[0].files.at(0).text,
                HasSubstr(std::to_string(rate.program->attempts) + " processes failed"));
  }
}

// Their inputs are not all the same number, and what is expected is worked out by hand. Nor does
// the profile have a defect in them: what does not fail again is not handed out.
TEST_F(ProofTest, AProgramThatDoesNotFailAgainIsNotHandedOut) {
  for (const char* op :
       {"relu/default", "softmax/default", "add/nograph", "strided_copy/default"}) {
    const Proved proved = prove(request_for(std::string("metal/") + op + "/threads=2/sync=end",
                                            Kind::metal, Outcome::wrong_result));
    EXPECT_EQ(arm_of(proved, ProofArm::rate).k, 0) << shown(proved.proofs);
    EXPECT_EQ(arm_of(proved, ProofArm::rate).n, 40) << shown(proved.proofs);
    EXPECT_THAT(proved.emissions.at(0).why_not, HasSubstr("did not fail in 40 attempts"));
    EXPECT_THAT(proved.emissions.at(0).files, testing::IsEmpty());
  }
}

// Of a cell of mps alone it does not follow whether its device was simulated.
TEST_F(ProofTest, ACellOfMpsIsTriedWhereItsTrialsRan) {
  auto request = request_for("mps/linear/nograph/threads=3", Kind::metal);
  EXPECT_TRUE(arm_of(prove(request), ProofArm::failing).held);
  request.simulated = false;
  const Proved elsewhere = prove(request);
  EXPECT_FALSE(arm_of(elsewhere, ProofArm::failing).tried());
  EXPECT_THAT(arm_of(elsewhere, ProofArm::failing).problem, HasSubstr("no Metal device"));
}
#endif

TEST_F(ProofTest, WhatCannotBeTriedSaysWhy) {
  auto request = request_for("sim/linear/nograph/threads=3", Kind::libtorch);
  request.kinds.clear();
  request.library.clear();
  request.libraries = "/does/not/exist";
  const Proved proved = prove(request);
  for (const Proof& proof : proved.proofs) {
    EXPECT_TRUE(proof.held || !proof.problem.empty()) << shown(proved.proofs);
  }
  request.kinds = {Kind::libtorch};
  EXPECT_THAT(arm_of(prove(request), ProofArm::build).problem, HasSubstr("not known"));
}

TEST_F(ProofTest, AProgramThatIsImpossibleIsAmongTheProofs) {
  const Proved proved = prove(request_for("sim/transformer_layer/graph/threads=3", Kind::metal));
  ASSERT_EQ(proved.proofs.size(), 1U);
  EXPECT_THAT(proved.proofs[0].problem, HasSubstr("transformer_layer"));
}

#ifdef MPSPROBE_TORCH_LIBRARY
TEST_F(ProofTest, AProgramThatDoesNotCompileDoesNotHold) {
  auto request = request_for("sim/linear/nograph/threads=3", Kind::libtorch);
  const fs::path broken = folder_ / "broken";
  fs::create_directories(folder_);
  fs::copy(request.what.programs, broken, fs::copy_options::recursive);
  std::ofstream(broken / "threads.cpp.mustache") << "#include \"missing.h\"\n";
  request.what.programs = broken;
  const Proved proved = prove(request);
  EXPECT_FALSE(arm_of(proved, ProofArm::build).held);
  EXPECT_THAT(arm_of(proved, ProofArm::build).problem, HasSubstr("error"));
}

TEST_F(ProofTest, AProgramThatTakesTooLongIsStopped) {
  auto request = request_for("sim/linear/nograph/threads=3", Kind::libtorch);
  request.build_seconds = 0.0;
  EXPECT_THAT(arm_of(prove(request), ProofArm::build).problem, HasSubstr("time limit"));
}

TEST_F(ProofTest, AnInterruptionIsSaid) {
  auto request = request_for("sim/linear/nograph/threads=3", Kind::libtorch);
  const std::atomic<bool> interrupted = true;
  request.interrupted = &interrupted;
  EXPECT_THAT(arm_of(prove(request), ProofArm::build).problem, HasSubstr("interrupted"));
}
#endif

TEST(Proofs, SurviveJson) {
  const std::vector<Proof> proofs{
      {.kind = Kind::mlx, .arm = ProofArm::build, .problem = "not there"},
      {.kind = Kind::mlx,
       .arm = ProofArm::rate,
       .k = 7,
       .n = 40,
       .program = ProgramForm{.inputs_first = false,
                              .stream_first = true,
                              .rounds = 50,
                              .attempts = 52,
                              .seconds = 3.5}}};
  nlohmann::json json = to_json(proofs);
  EXPECT_EQ(to_json(read_proofs(json)), json);
  EXPECT_EQ(read_proofs(json)[1].program, proofs[1].program);
  EXPECT_ANY_THROW(read_proofs(nlohmann::json::object()));
  const auto refused = [&json](const char* pointer, const nlohmann::json& value) {
    nlohmann::json changed = json;
    changed[nlohmann::json::json_pointer(pointer)] = value;
    EXPECT_THROW(read_proofs(changed), InputError) << pointer;
  };
  refused("/0/kind", "perl");
  refused("/0/arm", "leg");
  refused("/0/k", 3);
  refused("/1/program/rounds", 0);
  refused("/1/program/attempts", 1 << 20);
  json[0].erase("arm");
  EXPECT_ANY_THROW(read_proofs(json));
}

}  // namespace
}  // namespace mpsprobe
