#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "scenarios/operations/torch_workload.h"

// What a backend that takes the path by capturing gets to do: CUDA's is one, and needs a GPU. This
// one captures nothing, and counts.

namespace mpsprobe {
namespace {

using ::testing::HasSubstr;

struct CaptureCalls {
  int launches = 0;
  int synchronised = 0;
};

class CapturingDevice : public Device {
 public:
  explicit CapturingDevice(CaptureCalls& calls) : calls_(calls) {}
  at::Device torch_device() const override { return at::kCPU; }
  void touch() override {}
  void enter_thread(StreamUse) override {}
  PathChoice path_choice() const override { return PathChoice::capture; }
  std::vector<at::Tensor> launch(const std::function<std::vector<at::Tensor>()>& calls) override {
    ++calls_.launches;
    return calls();
  }
  void synchronise() override { ++calls_.synchronised; }
  void settle() override {}
  at::Tensor upload(const at::Tensor& tensor) override { return tensor.clone(); }
  std::string observed_path(std::string_view) override { return "graph"; }
  nlohmann::json description() const override { return {}; }

 private:
  CaptureCalls& calls_;
};

Cell graph_cell(const std::string& op) {
  Cell cell;
  cell.backend = Backend::cuda;
  cell.op = op;
  cell.path = Path::graph;
  return cell;
}

std::string capture_refusal(const Cell& cell) {
  CaptureCalls calls;
  try {
    TorchWorkload(*find_operation(cell.op), cell, 7, std::make_unique<CapturingDevice>(calls));
  } catch (const UnsupportedError& error) {
    return error.what();
  }
  return "";
}

TEST(PathChoice, AThreadRunsWhatItWillCaptureOnceBefore) {
  CaptureCalls calls;
  const Cell cell = graph_cell("mm");
  TorchWorkload workload(*find_operation("mm"), cell, 7, std::make_unique<CapturingDevice>(calls));
  const std::unique_ptr<Lane> lane = workload.make_lane(0);
  EXPECT_EQ(calls.synchronised, 0);
  lane->enter();
  EXPECT_EQ(calls.launches, 0);
  EXPECT_EQ(calls.synchronised, 1);
  lane->launch(0);
  lane->launch(1);
  EXPECT_EQ(calls.launches, 2);
  const CheckResult result = lane->check();
  EXPECT_EQ(result.checked, 2U);
  EXPECT_EQ(result.wrong_iteration, -1) << result.difference;
}

TEST(PathChoice, WeightsStayAsTheyAreWhereTheLayoutChoosesNothing) {
  CaptureCalls calls;
  const Cell cell = graph_cell("linear");
  TorchWorkload workload(*find_operation("linear"), cell, 7,
                         std::make_unique<CapturingDevice>(calls));
  EXPECT_TRUE(workload.parameters_for(0)->device.at(0).is_contiguous());
}

TEST(PathChoice, WhatCannotBeCapturedIsRefused) {
  EXPECT_THAT(capture_refusal(graph_cell("nonzero")), HasSubstr("cannot be captured"));
  EXPECT_EQ(capture_refusal(graph_cell("add")), "");
  Cell eager = graph_cell("nonzero");
  eager.path = Path::nograph;
  EXPECT_EQ(capture_refusal(eager), "");
}

TEST(PathChoice, AnOperationForOneBackendIsRefusedOnOthers) {
  Cell cell = graph_cell("selftest.illegal_address");
  cell.path = Path::automatic;
  EXPECT_EQ(capture_refusal(cell), "");
  cell.backend = Backend::cpu;
  EXPECT_THAT(capture_refusal(cell), HasSubstr("for the backend cuda alone"));
}

}  // namespace
}  // namespace mpsprobe
