#include "scenarios/operations/torch_workload.h"

#include <ATen/ops/full.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "scenarios/backends/backend.h"
#include "scenarios/operations/torch_errors.h"

namespace mpsprobe {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Cell workload_cell(std::string_view op) {
  Cell cell;
  cell.backend = Backend::cpu;
  cell.op = op;
  return cell;
}

// An operation whose launch number `fault_at` on the device (float32; the reference is float64)
// writes one wrong element.
std::atomic<int> launches;
std::atomic<int> fault_at;

Tensors run_with_fault(const Call& call) {
  at::Tensor result = call.inputs[0].mul(2);
  if (call.inputs[0].scalar_type() == at::kFloat && launches++ == fault_at) {
    result.view(-1).select(0, 5).add_(0.01);
  }
  return {result};
}

const at::ScalarType kFloatOnly[] = {at::kFloat};
const Operation kFaulty = {
    .name = "faulty",
    .shape = "4x4",
    .dimensions = "any",
    .dtypes = kFloatOnly,
    .rounding = Rounding::elementary,
    .inputs = [](Random& random, const Sizes& sizes) -> Tensors { return {random.normal(sizes)}; },
    .run = run_with_fault,
};

CheckResult run_faulty(int fault, int iterations, int64_t kept_bytes = kKeptBytes) {
  launches = 0;
  fault_at = fault;
  const Cell cell = workload_cell("faulty");
  TorchWorkload workload(kFaulty, cell, 1, open_device(cell), kept_bytes);
  const std::unique_ptr<Lane> lane = workload.make_lane(0);
  for (int iteration = 0; iteration < iterations; ++iteration) {
    lane->launch(iteration);
  }
  return lane->check();
}

TEST(TorchWorkload, AWrongElementIsFoundWithItsIteration) {
  const CheckResult result = run_faulty(/*fault=*/3, /*iterations=*/5);
  EXPECT_EQ(result.checked, 5u);
  EXPECT_EQ(result.wrong_iteration, 3);
  EXPECT_THAT(result.difference, AllOf(HasSubstr("index [1,1]"), HasSubstr("1 of 16 elements")));
  EXPECT_EQ(run_faulty(/*fault=*/-1, 5).wrong_iteration, -1);
}

TEST(TorchWorkload, BeyondTheBudgetFirstAndLastAreKeptAndTheRestIsCounted) {
  constexpr int64_t kOneResult = 16 * sizeof(float);
  // Room for two: 0 and 1 are kept, then only the newest.
  CheckResult result = run_faulty(/*fault=*/9, /*iterations=*/10, 2 * kOneResult);
  EXPECT_EQ(result.checked, 3u);
  EXPECT_EQ(result.unchecked, 7u);
  EXPECT_EQ(result.wrong_iteration, 9);
  result = run_faulty(/*fault=*/0, /*iterations=*/10, /*kept_bytes=*/0);
  EXPECT_EQ(result.checked, 2u);
  EXPECT_EQ(result.unchecked, 8u);
  EXPECT_EQ(result.wrong_iteration, 0);
}

TEST(TorchWorkload, ALaneThatNeverLaunchedHasNothingToCheck) {
  const CheckResult result = run_faulty(-1, /*iterations=*/0);
  EXPECT_EQ(result.checked, 0u);
  EXPECT_EQ(result.wrong_iteration, -1);
}

TEST(TorchWorkload, SharedModelIsOneAndPerThreadModelsDiffer) {
  Cell cell = workload_cell("linear");
  TorchWorkload shared(*find_operation("linear"), cell, 1, open_device(cell));
  EXPECT_EQ(shared.parameters_for(0), shared.parameters_for(1));
  cell.model = ModelSharing::per_thread;
  TorchWorkload own(*find_operation("linear"), cell, 1, open_device(cell));
  EXPECT_FALSE(own.parameters_for(0)->device[0].equal(own.parameters_for(1)->device[0]));
  TorchWorkload again(*find_operation("linear"), cell, 1, open_device(cell));
  EXPECT_TRUE(own.parameters_for(1)->device[0].equal(again.parameters_for(1)->device[0]));
  TorchWorkload other_seed(*find_operation("linear"), cell, 2, open_device(cell));
  EXPECT_FALSE(own.parameters_for(1)->device[0].equal(other_seed.parameters_for(1)->device[0]));
}

TEST(TorchWorkload, LanesMadeInTheirThreadsShareOneModelAndAreClean) {
  Cell cell = workload_cell("mlp");
  cell.init = Init::threads;
  TorchWorkload workload(*find_operation("mlp"), cell, 1, open_device(cell));
  std::vector<std::unique_ptr<Lane>> lanes(4);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      lanes[thread] = workload.make_lane(thread);
      lanes[thread]->enter();
      for (int iteration = 0; iteration < 5; ++iteration) {
        lanes[thread]->launch(iteration);
      }
      lanes[thread]->synchronise();
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const auto& lane : lanes) {
    const CheckResult result = lane->check();
    EXPECT_EQ(result.checked, 5u);
    EXPECT_EQ(result.difference, "");
  }
}

// A device whose results are there once somebody has waited for all of it, and not before.
class LateDevice : public Device {
 public:
  at::Device torch_device() const override { return at::kCPU; }
  void touch() override {}
  void enter_thread(StreamUse) override {}
  std::vector<at::Tensor> launch(const std::function<std::vector<at::Tensor>()>& calls) override {
    std::vector<at::Tensor> results = calls();
    for (at::Tensor& result : results) {
      in_flight_.emplace_back(result, result.clone());
      result.zero_();
    }
    return results;
  }
  void synchronise() override {}
  void settle() override {
    for (auto& [result, right] : in_flight_) result.copy_(right);
    in_flight_.clear();
  }
  at::Tensor upload(const at::Tensor& tensor) override { return tensor.clone(); }
  std::string observed_path(std::string_view) override { return std::string(kNotObserved); }
  nlohmann::json description() const override { return {{"backend", "cpu"}}; }

 private:
  std::vector<std::pair<at::Tensor, at::Tensor>> in_flight_;
};

TEST(TorchWorkload, WhatNoThreadWaitedForIsComparedOnceTheDeviceIsDone) {
  Cell cell = workload_cell("mm");
  for (const Sync sync : {Sync::never, Sync::each}) {
    cell.sync = sync;
    TorchWorkload workload(*find_operation("mm"), cell, 1, std::make_unique<LateDevice>());
    const std::unique_ptr<Lane> lane = workload.make_lane(0);
    for (int iteration = 0; iteration < 3; ++iteration) lane->launch(iteration);
    const CheckResult result = lane->check();
    EXPECT_EQ(result.checked, 3u);
    // With sync=each whoever checks has waited: a wait here would hide that nothing was there.
    EXPECT_EQ(result.wrong_iteration, sync == Sync::never ? -1 : 0) << result.difference;
  }
}

// The result is right by the time it is compared: only what was read tells that it was read too
// early.
TEST(TorchWorkload, ANumberThatWasReadBackTooEarlyIsWrong) {
  Cell cell = workload_cell("mm");
  cell.backend = Backend::cuda;
  cell.wait = WaitFor::item;
  for (const bool late : {true, false}) {
    auto owned = std::make_unique<LateDevice>();
    LateDevice& device = *owned;
    TorchWorkload workload(*find_operation("mm"), cell, 1, std::move(owned));
    const std::unique_ptr<Lane> lane = workload.make_lane(0);
    lane->launch(4);
    if (!late) device.settle();
    lane->synchronise();
    device.settle();
    const CheckResult result = lane->check();
    EXPECT_EQ(result.wrong_iteration, late ? 4 : -1);
    EXPECT_EQ(result.difference.starts_with("read back: "), late) << result.difference;
  }
}

TEST(TorchWorkload, OnlyWhatHasStagesMeetsBetweenThem) {
  Cell cell = workload_cell("mm");
  cell.threads = 2;
  cell.meet = Meet::stage;
  EXPECT_THROW(TorchWorkload(*find_operation("mm"), cell, 1, open_device(cell)), UnsupportedError);
  cell.op = "attention";
  EXPECT_NO_THROW(TorchWorkload(*find_operation("attention"), cell, 1, open_device(cell)));
}

TEST(TorchWorkload, LanesOfAMixSayWhatTheyRun) {
  const Cell cell = workload_cell("unary_mix");
  TorchWorkload workload(*find_operation("unary_mix"), cell, 1, open_device(cell));
  EXPECT_EQ(workload.make_lane(0)->operation(), "tanh");
  EXPECT_EQ(workload.make_lane(16)->operation(), "abs");
  const Cell linear = workload_cell("linear");
  TorchWorkload plain(*find_operation("linear"), linear, 1, open_device(linear));
  EXPECT_EQ(plain.make_lane(5)->operation(), "linear");
}

TEST(TorchWorkload, PathIsNotObservedOnTheCpu) {
  const Cell cell = workload_cell("linear");
  TorchWorkload workload(*find_operation("linear"), cell, 1, open_device(cell));
  EXPECT_EQ(workload.observed_path(), "not observed");
}

TEST(TorchErrors, ErrorsGetTheirMeaning) {
  const auto translated = [](auto&& fail) { with_worker_errors(fail); };
  EXPECT_THROW(translated([] { TORCH_CHECK_WITH(OutOfMemoryError, false, "no room"); }),
               OutOfMemoryError);
  EXPECT_THROW(
      translated([] { TORCH_CHECK(false, "MPS backend out of memory (MPS allocated: 1"); }),
      OutOfMemoryError);
  EXPECT_THROW(translated([] { throw std::bad_alloc(); }), OutOfMemoryError);
  EXPECT_THROW(translated([] { throw c10::AcceleratorError({}, 4, "command buffer error"); }),
               GpuError);
  EXPECT_THROW(
      translated([] { TORCH_CHECK(false, "The MPS backend is supported on MacOS 14.0+."); }),
      UnsupportedError);
  EXPECT_THROW(translated([] { throw std::invalid_argument("as it is"); }), std::invalid_argument);
  EXPECT_EQ(with_worker_errors([] { return 7; }), 7);
}

TEST(TorchErrors, TextComesWithoutTheStack) {
  try {
    with_worker_errors([] { TORCH_CHECK(false, "A and B index not found"); });
    FAIL() << "nothing thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("A and B index not found"), Not(HasSubstr("frame #"))));
  }
}

}  // namespace
}  // namespace mpsprobe
