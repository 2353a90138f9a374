#include <ATen/record_function.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "scenarios/backends/backend.h"
#include "scenarios/operations/torch_workload.h"

namespace mpsprobe {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;
using Calls = std::vector<std::string>;

/// Records the outermost ATen calls of the thread that made it, in order, as an observer
/// sees them; what they call inside is left out.
class CallRecorder {
 public:
  CallRecorder() {
    calls_of_thread() = &calls_;
    depth_of_thread() = 0;
    handle_ = at::addThreadLocalCallback(
        at::RecordFunctionCallback(
            [](const at::RecordFunction& function) -> std::unique_ptr<at::ObserverContext> {
              if (depth_of_thread()++ == 0) {
                calls_of_thread()->emplace_back(function.name());
              }
              return nullptr;
            },
            [](const at::RecordFunction&, at::ObserverContext*) { --depth_of_thread(); })
            .scopes({at::RecordScope::FUNCTION}));
  }
  ~CallRecorder() { at::removeCallback(handle_); }
  CallRecorder(const CallRecorder&) = delete;
  CallRecorder& operator=(const CallRecorder&) = delete;

  const std::vector<std::string>& calls() const { return calls_; }

 private:
  static std::vector<std::string>*& calls_of_thread() {
    thread_local std::vector<std::string>* calls = nullptr;
    return calls;
  }
  static int& depth_of_thread() {
    thread_local int depth = 0;
    return depth;
  }

  std::vector<std::string> calls_;
  at::CallbackHandle handle_ = at::INVALID_CALLBACK_HANDLE;
};

Cell observed_cell(std::string_view op) {
  Cell cell;
  cell.backend = Backend::cpu;
  cell.op = op;
  return cell;
}

// The outermost ATen calls of one launch of lane `thread`, less the detach that ends a launch whose
// results record a gradient.
Calls calls_of(const Cell& cell, int thread = 0) {
  TorchWorkload workload(*find_operation(cell.op), cell, 1, open_device(cell));
  const std::unique_ptr<Lane> lane = workload.make_lane(thread);
  CallRecorder recorder;
  lane->launch(0);
  Calls calls = recorder.calls();
  if (workload.operation().records_gradient) {
    EXPECT_EQ(calls.back(), "aten::detach");
    calls.pop_back();
  }
  return calls;
}

// Of models of two such parts.
Calls twice(const Calls& part) {
  Calls calls = part;
  calls.insert(calls.end(), part.begin(), part.end());
  return calls;
}

const Calls kTransformerLayer = {"aten::linear",
                                 "aten::unflatten",
                                 "aten::unsqueeze",
                                 "aten::transpose",
                                 "aten::squeeze",
                                 "aten::contiguous",
                                 "aten::select",
                                 "aten::view",
                                 "aten::transpose",
                                 "aten::view",
                                 "aten::select",
                                 "aten::view",
                                 "aten::transpose",
                                 "aten::view",
                                 "aten::select",
                                 "aten::view",
                                 "aten::transpose",
                                 "aten::view",
                                 "aten::scaled_dot_product_attention",
                                 "aten::permute",
                                 "aten::reshape",
                                 "aten::linear",
                                 "aten::view",
                                 "aten::dropout",
                                 "aten::add",
                                 "aten::layer_norm",
                                 "aten::linear",
                                 "aten::relu",
                                 "aten::dropout",
                                 "aten::linear",
                                 "aten::dropout",
                                 "aten::add",
                                 "aten::layer_norm"};

// What the same line of Python calls. The wrong call tests nothing: addmm passes where linear
// crashes, and the C++ front end's Linear is addmm.
const std::map<std::string_view, Calls> kExpected = {
    {"empty", {"aten::empty"}},
    {"zeros", {"aten::zeros"}},
    {"ones", {"aten::ones"}},
    {"full", {"aten::full"}},
    {"randn", {"aten::randn"}},
    {"arange", {"aten::arange"}},
    {"linspace", {"aten::linspace"}},
    {"add", {"aten::add"}},
    {"mul", {"aten::mul"}},
    {"relu", {"aten::relu"}},
    {"softmax", {"aten::softmax"}},
    {"layer_norm", {"aten::layer_norm"}},
    {"sum", {"aten::sum"}},
    {"nonzero", {"aten::nonzero"}},
    {"mm", {"aten::mm"}},
    {"matmul", {"aten::matmul"}},
    {"addmm", {"aten::t", "aten::addmm"}},
    {"matmul_bias", {"aten::numpy_T", "aten::matmul", "aten::add"}},
    {"linear", {"aten::linear"}},
    {"raw", {"aten::randn", "aten::randn", "aten::mm", "aten::relu"}},
    {"unary_mix", {"aten::tanh"}},
    {"range", {"aten::range"}},
    {"logspace", {"aten::logspace"}},
    {"eye", {"aten::eye"}},
    {"renorm", {"aten::renorm"}},
    {"householder_product", {"aten::linalg_householder_product"}},
    {"bmm", {"aten::bmm"}},
    {"gelu", {"aten::gelu"}},
    {"tanh", {"aten::tanh"}},
    {"batch_norm", {"aten::batch_norm"}},
    {"sdpa", {"aten::scaled_dot_product_attention"}},
    {"attention",
     {"aten::linear", "aten::unflatten", "aten::unsqueeze", "aten::transpose", "aten::squeeze",
      "aten::contiguous", "aten::select", "aten::view", "aten::transpose", "aten::select",
      "aten::view", "aten::transpose", "aten::select", "aten::view", "aten::transpose",
      "aten::scaled_dot_product_attention"}},
    {"attention_strided",
     {"aten::linear", "aten::unflatten", "aten::unsqueeze", "aten::transpose", "aten::squeeze",
      "aten::select", "aten::reshape", "aten::transpose", "aten::select", "aten::reshape",
      "aten::transpose", "aten::select", "aten::reshape", "aten::transpose",
      "aten::scaled_dot_product_attention"}},
    {"range_mix",
     {"aten::arange", "aten::linspace", "aten::sum", "aten::arange", "aten::linspace", "aten::sum",
      "aten::arange", "aten::sum"}},
    {"linear_module", {"aten::linear"}},
    {"mlp", {"aten::linear", "aten::relu", "aten::linear"}},
    {"conv1d", {"aten::conv1d"}},
    {"conv2d", {"aten::conv2d"}},
    {"transformer_layer", kTransformerLayer},
    {"mlp3", {"aten::linear", "aten::relu", "aten::linear", "aten::relu", "aten::linear"}},
    {"conv_stack", {"aten::conv1d", "aten::relu", "aten::conv1d", "aten::relu", "aten::conv1d"}},
    {"conv_net", twice({"aten::conv2d", "aten::batch_norm", "aten::relu"})},
    {"model_mix", {"aten::linear"}},
    {"transformer_encoder", twice(kTransformerLayer)},
    {"oom_mm", {"aten::empty", "aten::mm"}},
};

TEST(AtenCalls, EveryOperationMakesTheCallsOfItsLineOfPython) {
  size_t compared = 0;
  for (const Operation* operation : operations()) {
    if (operation->only_on.has_value()) {
      continue;  // it is not one of Python's lines
    }
    ++compared;
    const auto expected = kExpected.find(operation->name);
    ASSERT_NE(expected, kExpected.end()) << operation->name << " has no row in this table";
    EXPECT_THAT(calls_of(observed_cell(operation->name)), ElementsAreArray(expected->second))
        << operation->name;
  }
  EXPECT_EQ(compared, kExpected.size());
}

TEST(AtenCalls, PathChangesTheLayoutAndNotTheCalls) {
  for (const Operation* operation : operations()) {
    if (operation->ends_in_linear) {
      Cell cell = observed_cell(operation->name);
      cell.path = Path::graph;
      EXPECT_THAT(calls_of(cell), ElementsAreArray(kExpected.at(operation->name)))
          << operation->name;
    }
  }
}

TEST(AtenCalls, FifteenThreadsOfTheMixRunFifteenFunctions) {
  std::map<std::string, int> seen;
  for (int thread = 0; thread < 15; ++thread) {
    const Calls calls = calls_of(observed_cell("unary_mix"), thread);
    ASSERT_EQ(calls.size(), 1u);
    ++seen[calls[0]];
  }
  EXPECT_EQ(seen.size(), 15u);
  EXPECT_THAT(calls_of(observed_cell("unary_mix"), 15), ElementsAre("aten::tanh"));
}

TEST(AtenCalls, PreparingAndCheckingIsNotObserved) {
  // The simulated device takes every observed CPU operation for work of its own: only the copies of
  // inputs and weights may be seen before the first launch, and nothing may be seen in the check.
  const Cell cell = observed_cell("linear");
  TorchWorkload workload(*find_operation("linear"), cell, 1, open_device(cell));
  std::unique_ptr<Lane> lane;
  {
    CallRecorder preparing;
    lane = workload.make_lane(0);
    EXPECT_THAT(preparing.calls(), ElementsAre("aten::clone", "aten::clone", "aten::clone"));
  }
  lane->launch(0);
  CallRecorder checking;
  EXPECT_EQ(lane->check().checked, 1u);
  EXPECT_THAT(checking.calls(), IsEmpty());
}

}  // namespace
}  // namespace mpsprobe
