// PyTorch's device mps on the stand-in: its tensors, and its rules, each with a misuse that is
// found every time and a legal twin that never is.
#include "scenarios/stand_in/stand_in.h"

#include <ATen/Functions.h>
#include <ATen/detail/MPSHooksInterface.h>
#include <ATen/mps/MPSStream.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <functional>
#include <thread>
#include <vector>

namespace {

using at::mps::MPSStream;
using at::mps::SyncType;
using testing::HasSubstr;

// Read once, as LibTorch does.
const int kLogAsked = setenv("PYTORCH_MPS_LOG_PROFILE_INFO", "1", 1);

constexpr int kTries = 100;
constexpr auto kWait = SyncType::COMMIT_AND_WAIT;

void on_queue(MPSStream* stream, const std::function<void()>& block) {
  dispatch_sync_f(stream->queue(), const_cast<std::function<void()>*>(&block),
                  [](void* it) { (*static_cast<std::function<void()>*>(it))(); });
}

/// How many of kTries processes `work` brings down with SIGABRT; every other end but a clean one is
/// a failure of the test.
int aborted(const std::function<void()>& work) {
  int count = 0;
  for (int i = 0; i < kTries; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      static_cast<void>(std::freopen("/dev/null", "w", stderr));
      work();
      _exit(0);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) {
      ++count;
    } else {
      EXPECT_EQ(status, 0);
    }
  }
  return count;
}

const at::TensorOptions kMps = at::TensorOptions().device(at::Device(at::kMPS, 0));

TEST(StandIn, SaysThatItIsSimulated) {
  EXPECT_THAT(mpsprobe_stand_in_describe(), HasSubstr("\"simulated\":true"));
}

TEST(StandIn, ComputesWhatTheCpuComputes) {
  ASSERT_EQ(kLogAsked, 0);
  EXPECT_TRUE(at::hasMPS());
  mpsprobe_stand_in_describe();  // starts it: what starts it inside an operation is not observed
  const at::Tensor x = at::randn({8, 16});
  const at::Tensor w = at::randn({4, 16});
  const at::Tensor b = at::randn({4});
  testing::internal::CaptureStderr();
  const at::Tensor y = at::linear(x.to(kMps), w.to(kMps), b.to(kMps));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "aten::mps_linear:MPS:Float[8, 16]:MPS:Float[4, 16]:MPS:Float[4] (id=K1, run=1)\n");
  EXPECT_TRUE(y.device().is_mps());
  EXPECT_TRUE(at::allclose(y.cpu(), at::linear(x, w, b)));
  EXPECT_TRUE(at::equal(x.to(kMps).t().contiguous().cpu(), x.t()));
  EXPECT_TRUE(at::equal(at::nonzero(at::relu(x.to(kMps))).cpu(), at::nonzero(at::relu(x))));
  EXPECT_EQ(at::arange(5, kMps).sum().item<int64_t>(), 10);
}

// LibTorch chooses their kernels by the device's type, and not by what is registered.
TEST(StandIn, ConvolvesAndAttendsAsTheCpuDoes) {
  const at::Tensor image = at::randn({2, 3, 8, 8});
  const at::Tensor kernel = at::randn({4, 3, 3, 3});
  const at::Tensor bias = at::randn({4});
  const at::Tensor without = at::conv2d(image.to(kMps), kernel.to(kMps));
  EXPECT_TRUE(without.device().is_mps());
  EXPECT_TRUE(at::allclose(without.cpu(), at::conv2d(image, kernel)));
  EXPECT_TRUE(at::allclose(at::conv2d(image.to(kMps), kernel.to(kMps), bias.to(kMps), 2, 1).cpu(),
                           at::conv2d(image, kernel, bias, 2, 1), 1e-4, 1e-5));
  const at::Tensor q = at::randn({2, 2, 8, 16});
  const at::Tensor k = at::randn({2, 2, 8, 16});
  const at::Tensor v = at::randn({2, 2, 8, 16});
  const at::Tensor attended =
      at::scaled_dot_product_attention(q.to(kMps), k.to(kMps), v.to(kMps), {}, 0.0, true);
  EXPECT_TRUE(attended.device().is_mps());
  EXPECT_TRUE(at::allclose(attended.cpu(), at::scaled_dot_product_attention(q, k, v, {}, 0.0, true),
                           1e-4, 1e-5));
}

TEST(StandIn, AnOperationOfTheCpuIsNotEncoded) {
  mpsprobe_stand_in_describe();
  const at::Tensor mine = at::ones({1, 2, 2}, kMps);
  testing::internal::CaptureStderr();
  at::bmm(at::ones({1, 2, 2}), at::ones({1, 2, 2}));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  testing::internal::CaptureStderr();
  at::bmm(mine, mine);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("aten::bmm:MPS:Float[1, 2, 2]"));
}

TEST(StandIn, ThreadsHaveStreamsOfTheirOwn) {
  const at::Tensor x = at::randn({16, 16});
  const at::Tensor right = at::mm(x, x);
  std::vector<int> wrong(4, 1);
  std::vector<std::thread> threads;
  for (int& each : wrong) {
    threads.emplace_back([&] {
      at::mps::setCurrentMPSStream(at::mps::getStreamFromPool());
      const at::Tensor mine = x.to(kMps);
      each = 0;
      for (int i = 0; i < 20; ++i) {
        const at::Tensor got = at::mm(mine, mine);
        on_queue(at::mps::getCurrentMPSStream(),
                 [] { at::mps::getCurrentMPSStream()->synchronize(kWait); });
        each += at::allclose(got.cpu(), right) ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

// What scenarios/backends/mps.cpp once did from every thread.
TEST(StandInRules, SynchroniseOnTheQueue) {
  at::ones({4}, kMps);
  MPSStream* const stream = at::mps::getDefaultMPSStream();
  EXPECT_EQ(aborted([&] { stream->synchronize(kWait); }), kTries);
  EXPECT_EQ(aborted([&] { on_queue(stream, [&] { stream->synchronize(kWait); }); }), 0);
}

TEST(StandInRules, TakeAnEncoderOnTheQueue) {
  MPSStream* const stream = at::mps::getDefaultMPSStream();
  EXPECT_EQ(aborted([&] { stream->commandEncoder(); }), kTries);
  EXPECT_EQ(aborted([&] { on_queue(stream, [&] { stream->commandEncoder(); }); }), 0);
}

TEST(StandInRules, EndAnEncoderOnTheQueue) {
  MPSStream* const stream = at::mps::getDefaultMPSStream();
  EXPECT_EQ(aborted([&] { stream->endKernelCoalescing(); }), kTries);
  EXPECT_EQ(aborted([&] { on_queue(stream, [&] { stream->endKernelCoalescing(); }); }), 0);
}

TEST(StandInRules, AStreamIsUsedOnItsOwnQueue) {
  MPSStream* const one = at::mps::getStreamFromPool();
  MPSStream* const other = at::mps::getStreamFromPool();
  EXPECT_EQ(aborted([&] { on_queue(one, [&] { other->commandBuffer(); }); }), kTries);
  EXPECT_EQ(aborted([&] { on_queue(one, [&] { one->commandBuffer(); }); }), 0);
}

TEST(StandInRules, TwoThreadsShareAStreamThroughItsQueue) {
  MPSStream* const stream = at::mps::getDefaultMPSStream();
  const auto in_two_threads = [](const std::function<void()>& work) {
    std::thread one(work);
    std::thread other(work);
    one.join();
    other.join();
  };
  EXPECT_EQ(aborted([&] { in_two_threads([&] { stream->commandEncoder(); }); }), kTries);
  EXPECT_EQ(aborted([&] {
              in_two_threads([&] { on_queue(stream, [&] { stream->commandEncoder(); }); });
            }),
            0);
}

TEST(StandInRules, AQueueDoesNotWaitForItself) {
  MPSStream* const stream = at::mps::getDefaultMPSStream();
  const auto synchronise = [] { at::detail::getMPSHooks().deviceSynchronize(); };
  EXPECT_EQ(aborted([&] { on_queue(stream, synchronise); }), kTries);
  EXPECT_EQ(aborted(synchronise), 0);
}

TEST(StandInRules, AnEventIsUsedOnItsOwnStream) {
  const at::MPSHooksInterface& hooks = at::detail::getMPSHooks();
  const auto use = [&](MPSStream* stream) {
    at::mps::setCurrentMPSStream(stream);
    const uint32_t event = hooks.acquireEvent(false);
    hooks.recordEvent(event);
    hooks.waitForEvent(event);
    hooks.synchronizeEvent(event);
    hooks.releaseEvent(event);
  };
  EXPECT_EQ(aborted([&] { use(at::mps::getStreamFromPool()); }), kTries);
  EXPECT_EQ(aborted([&] { use(at::mps::getDefaultMPSStream()); }), 0);
}

TEST(StandInRules, AnEventIsUsedUntilItsRelease) {
  const at::MPSHooksInterface& hooks = at::detail::getMPSHooks();
  for (int i = 0; i < kTries; ++i) {
    const uint32_t event = hooks.acquireEvent(false);
    EXPECT_FALSE(hooks.queryEvent(event));
    hooks.recordEvent(event);
    hooks.synchronizeEvent(event);
    EXPECT_TRUE(hooks.queryEvent(event));
    hooks.releaseEvent(event);
    EXPECT_THROW(hooks.recordEvent(event), c10::Error);
  }
}

}  // namespace
