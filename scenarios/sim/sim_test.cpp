// The C interface as a worker uses it: loaded with dlopen into a process that runs LibTorch.

#include "scenarios/sim/sim.h"

#include <ATen/ATen.h>
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace {

using testing::HasSubstr;

template <typename Function>
Function* find(const char* name) {
  static void* library = dlopen(MPSPROBE_SIM_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    ADD_FAILURE() << dlerror();
    std::abort();
  }
  void* symbol = dlsym(library, name);
  EXPECT_NE(symbol, nullptr) << name;
  return reinterpret_cast<Function*>(symbol);
}
#define SIM(name) (*find<decltype(mpsprobe_sim_##name)>("mpsprobe_sim_" #name))

std::string profile(const std::string& name) {
  return MPSPROBE_SOURCE_DIR "/scenarios/sim/profiles/" + name + ".json";
}

// One process can run one profile. CTest gives each test a process of its own; where they share
// one, the tests of another profile are skipped.
bool start(const std::string& name) {
  const std::string running = SIM(describe)();
  const bool other = running.find("\"simulated\":true") != std::string::npos &&
                     running.find("\"profile\":\"" + name + "\"") == std::string::npos;
  if (other) return false;
  char error[512] = "";
  EXPECT_EQ(SIM(start)(profile(name).c_str(), error, sizeof(error)), 0) << error;
  return true;
}
#define START_OR_SKIP(name) \
  if (!start(name)) GTEST_SKIP() << "another profile runs in this process"

TEST(SimInterface, DoesNothingBeforeTheStart) {
  SIM(use_pool_stream)();
  SIM(synchronize)();
  SIM(synchronize_all)();
  EXPECT_STREQ(SIM(describe)(), R"({"simulated":false})");
  EXPECT_STREQ(SIM(observed_path)("linear"), "not observed");
  EXPECT_STREQ(SIM(observed_path)(nullptr), "not observed");
}

TEST(SimInterface, ExplainsWhyItDoesNotStart) {
  char error[512] = "";
  EXPECT_NE(SIM(start)("/does/not/exist.json", error, sizeof(error)), 0);
  EXPECT_THAT(error, HasSubstr("/does/not/exist.json: cannot be read"));
  char small[8] = "";
  EXPECT_NE(SIM(start)(nullptr, small, sizeof(small)), 0);
  EXPECT_STREQ(small, "simulat");
  EXPECT_NE(SIM(start)("", nullptr, 0), 0);
}

TEST(SimInterface, DescribesTheRunningProfileAndRefusesASecondOne) {
  START_OR_SKIP("clean");
  const std::string description = SIM(describe)();
  EXPECT_THAT(description, HasSubstr(R"("simulated":true)"));
  EXPECT_THAT(description, HasSubstr(R"("profile":"clean")"));
  EXPECT_THAT(description, HasSubstr(R"("device":"simulated Metal device")"));
  EXPECT_THAT(description, testing::ContainsRegex("\"profile_hash\":\"[0-9a-f]{16}\""));
  START_OR_SKIP("clean");
  char error[512] = "";
  EXPECT_NE(SIM(start)(profile("hang").c_str(), error, sizeof(error)), 0);
  EXPECT_THAT(error, HasSubstr("one profile per process"));
  EXPECT_EQ(SIM(describe)(), description);
}

TEST(SimInterface, ObservesThePathOfEachOperation) {
  START_OR_SKIP("clean");
  const at::Tensor input = at::randn({4, 8});
  const at::Tensor weight = at::ones({8, 8});
  EXPECT_STREQ(SIM(observed_path)("randn"), "graph");
  EXPECT_STREQ(SIM(observed_path)("linear"), "not observed");
  at::linear(input, weight);
  EXPECT_STREQ(SIM(observed_path)("linear"), "nograph");
  EXPECT_STREQ(SIM(observed_path)("mm"), "not observed") << "what linear calls belongs to linear";
  at::linear(input, weight.t());
  EXPECT_STREQ(SIM(observed_path)("aten::linear"), "graph");
  at::matmul(input, weight);
  EXPECT_STREQ(SIM(observed_path)("mm"), "graph");
  at::zeros({4});
  EXPECT_STREQ(SIM(observed_path)("zeros"), "blit");
  at::empty({4});
  EXPECT_STREQ(SIM(observed_path)("empty"), "none");
  at::softmax(input, 1);
  EXPECT_STREQ(SIM(observed_path)("softmax"), "graph");
  EXPECT_STREQ(SIM(observed_path)("view"), "not observed");
}

TEST(SimInterface, EveryOperationOfTheReportsReachesTheDevice) {
  START_OR_SKIP("clean");
  const at::Tensor x = at::randn({4, 8, 8});
  at::arange(10);
  at::linspace(0, 1, 10);
  at::full({4}, 2);
  at::add(x, x);
  at::mul(x, x);
  at::relu(x);
  at::layer_norm(x, {8});
  at::sum(x);
  at::nonzero(x);
  at::addmm(x[0], x[1], x[2]);
  at::conv1d(x, at::ones({8, 8, 3}));
  at::conv2d(at::ones({1, 1, 8, 8}), at::ones({1, 1, 3, 3}));
  for (const char* name : {"arange", "linspace", "full", "add", "mul", "relu", "layer_norm", "sum",
                           "nonzero", "addmm", "convolution"}) {
    EXPECT_STREQ(SIM(observed_path)(name), "graph") << name;
  }
}

TEST(SimInterface, AnExceptionLeavesTheThreadAbleToGoOn) {
  START_OR_SKIP("exception");
  const at::Tensor input = at::ones({2, 4});
  const at::Tensor weight = at::ones({4, 4});
  int thrown = 0;
  std::thread threads[2];
  for (std::thread& thread : threads) {
    thread = std::thread([&] {
      for (int i = 0; i < 50; ++i) {
        try {
          at::linear(input, weight);
        } catch (const std::exception& error) {
          __atomic_add_fetch(&thrown, 1, __ATOMIC_RELAXED);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(thrown, 0);
  EXPECT_EQ(at::linear(input, weight).sum().item<float>(), 32.0F);
}

TEST(SimInterface, ResultsAreThoseOfTheCpu) {
  const at::Tensor input = at::arange(32).view({4, 8}).to(at::kFloat);
  const at::Tensor weight = at::arange(64).view({8, 8}).to(at::kFloat);
  const at::Tensor expected = at::linear(input, weight);
  START_OR_SKIP("wrong-numbers");
  EXPECT_TRUE(at::equal(at::linear(input, weight), expected)) << "one thread: no race, no defect";
  SIM(use_pool_stream)();
  EXPECT_TRUE(at::equal(at::linear(input, weight), expected));
  SIM(synchronize)();
  SIM(synchronize_all)();
}

}  // namespace
