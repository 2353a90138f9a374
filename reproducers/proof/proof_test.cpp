#include "reproducers/proof/proof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/input/input_error.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ProofTest : public testing::Test {
 protected:
  ProofTest() : folder_(fs::temp_directory_path() / ("proof-test-" + std::to_string(getpid()))) {}
  ~ProofTest() override { fs::remove_all(folder_); }

  ProofRequest request_for(const std::string& cell) const {
    ProofRequest request{.cell = parse_cell(cell), .simulated = true, .work = folder_};
    request.emissions = emit({.cell = request.cell,
                              .signature = "SIGSEGV",
                              .watermark = simulated_watermark(request.cell),
                              .programs = MPSPROBE_SOURCE_DIR "/reproducers/programs"});
    request.data = MPSPROBE_BINARY_DIR "/share/mpsprobe";
    request.libraries = MPSPROBE_BINARY_DIR "/lib";
#ifdef MPSPROBE_TORCH_LIBRARY
    request.library = MPSPROBE_TORCH_LIBRARY;
#endif
    return request;
  }

  static void keep(ProofRequest& request, Kind kind) {
    std::erase_if(request.emissions,
                  [kind](const Emission& emission) { return emission.kind != kind; });
  }

  fs::path folder_;
};

std::string shown(const std::vector<Proof>& proofs) {
  return to_json(proofs).dump(1);
}

const Proof* arm_of(const std::vector<Proof>& proofs, Kind kind, const std::string& arm) {
  const auto found = std::find_if(proofs.begin(), proofs.end(), [&](const Proof& proof) {
    return proof.kind == kind && proof.arm == arm;
  });
  return found == proofs.end() ? nullptr : &*found;
}

// The program for LibTorch is proved in ReproRun, which needs it proved.
#ifdef MPSPROBE_HAS_METAL_FACE
TEST_F(ProofTest, TheMetalProgramsFailWithTheDefectAndPassWithout) {
  for (const char* cell : {"metal/linear/nograph/threads=3", "metal/linear/graph/threads=4"}) {
    auto request = request_for(cell);
    keep(request, Kind::metal);
    const auto proofs = prove(request);
    for (const char* arm : {"build", "clean", "failing"}) {
      const Proof* const proof = arm_of(proofs, Kind::metal, arm);
      ASSERT_NE(proof, nullptr) << shown(proofs);
      EXPECT_TRUE(proof->held) << shown(proofs);
    }
    EXPECT_FALSE(arm_of(proofs, Kind::metal, "cross-build")->tried());
  }
}

// Their inputs are not all the same number, and what is expected is worked out by hand. Nor does
// the profile have a defect in them: that they do not fail is said.
TEST_F(ProofTest, TheProgramsOfGraphsExpectWhatTheDeviceComputesAndDoNotHoldWhereTheyPass) {
  for (const char* cell : {"metal/relu/default/threads=4", "metal/softmax/default/threads=4"}) {
    auto request = request_for(cell);
    keep(request, Kind::metal);
    const auto proofs = prove(request);
    const Proof* const clean = arm_of(proofs, Kind::metal, "clean");
    ASSERT_NE(clean, nullptr) << shown(proofs);
    EXPECT_TRUE(clean->held) << shown(proofs);
    const Proof* const failing = arm_of(proofs, Kind::metal, "failing");
    ASSERT_NE(failing, nullptr) << shown(proofs);
    EXPECT_FALSE(failing->held);
    EXPECT_EQ(failing->k, 0);
    EXPECT_THAT(failing->problem, HasSubstr("exit status 0"));
  }
}

// Of a cell of mps alone it does not follow whether its device was simulated.
TEST_F(ProofTest, ACellOfMpsIsTriedWhereItsTrialsRan) {
  auto request = request_for("mps/linear/nograph/threads=3");
  keep(request, Kind::metal);
  const auto proofs = prove(request);
  const Proof* const on_stand_in = arm_of(proofs, Kind::metal, "failing");
  ASSERT_NE(on_stand_in, nullptr) << shown(proofs);
  EXPECT_TRUE(on_stand_in->held) << shown(proofs);
  request.simulated = false;
  const auto of_a_mac = prove(request);
  const Proof* const elsewhere = arm_of(of_a_mac, Kind::metal, "failing");
  ASSERT_NE(elsewhere, nullptr) << shown(of_a_mac);
  EXPECT_FALSE(elsewhere->tried());
  EXPECT_THAT(elsewhere->problem, HasSubstr("no Metal device"));
}
#endif

TEST_F(ProofTest, WhatCannotBeTriedSaysWhy) {
  auto request = request_for("sim/linear/nograph/threads=3");
  request.library.clear();
  request.libraries = "/does/not/exist";
  const auto proofs = prove(request);
  for (const Proof& proof : proofs) {
    if (proof.held) continue;
    EXPECT_FALSE(proof.problem.empty()) << shown(proofs);
  }
  const Proof* const libtorch = arm_of(proofs, Kind::libtorch, "build");
  ASSERT_NE(libtorch, nullptr);
  EXPECT_FALSE(libtorch->tried());
  EXPECT_THAT(libtorch->problem, HasSubstr("LibTorch"));
  EXPECT_EQ(arm_of(proofs, Kind::mpsprobe, "failing"), nullptr);  // its trials are its proof
}

TEST_F(ProofTest, AProgramThatIsImpossibleIsAmongTheProofs) {
  auto request = request_for("sim/transformer_layer/graph/threads=3");
  keep(request, Kind::metal);
  const auto proofs = prove(request);
  ASSERT_EQ(proofs.size(), 1U);
  EXPECT_THAT(proofs[0].problem, HasSubstr("transformer_layer"));
}

TEST_F(ProofTest, ATextThatDoesNotCompileDoesNotHold) {
  auto request = request_for("sim/linear/nograph/threads=3");
  keep(request, Kind::python);
  request.emissions[0].files[0].text += "def (\n";
  const auto proofs = prove(request);
  ASSERT_EQ(proofs.size(), 1U) << shown(proofs);
  EXPECT_FALSE(proofs[0].held);
  EXPECT_TRUE(proofs[0].tried());
  EXPECT_THAT(proofs[0].problem, HasSubstr("SyntaxError"));
}

TEST_F(ProofTest, AProgramThatTakesTooLongIsStopped) {
  auto request = request_for("sim/linear/nograph/threads=3");
  keep(request, Kind::python);
  request.build_seconds = 0.0;
  const auto proofs = prove(request);
  EXPECT_FALSE(proofs[0].held);
  EXPECT_THAT(proofs[0].problem, HasSubstr("time limit"));
}

TEST_F(ProofTest, AnInterruptionIsSaid) {
  auto request = request_for("sim/linear/nograph/threads=3");
  keep(request, Kind::python);
  const std::atomic<bool> interrupted = true;
  request.interrupted = &interrupted;
  EXPECT_THAT(prove(request)[0].problem, HasSubstr("interrupted"));
}

TEST_F(ProofTest, ProofsSurviveJson) {
  auto request = request_for("sim/linear/nograph/threads=3");
  request.library.clear();
  keep(request, Kind::libtorch);
  const auto proofs = prove(request);
  EXPECT_EQ(to_json(read_proofs(to_json(proofs))), to_json(proofs));
  EXPECT_THROW(read_proofs(nlohmann::json::object()), InputError);
  auto json = to_json(proofs);
  json[0]["kind"] = "perl";
  EXPECT_THROW(read_proofs(json), InputError);
  json[0]["kind"] = "metal";
  json[0]["k"] = 3;
  EXPECT_THROW(read_proofs(json), InputError);
  json[0].erase("arm");
  EXPECT_THROW(read_proofs(json), InputError);
}

}  // namespace
}  // namespace mpsprobe
