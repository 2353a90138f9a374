#include "scenarios/sim/metal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace mpsprobe::sim::metal {
namespace {

std::shared_ptr<CommandBuffer> new_buffer() {
  static Device device;
  static std::unique_ptr<CommandQueue> queue = device.new_command_queue();
  return queue->command_buffer();
}

TEST(Metal, ExecutesCommandsBetweenTheHandlersInEncodingOrder) {
  std::vector<std::string> order;
  auto buffer = new_buffer();
  buffer->add_completed_handler([&](CommandBuffer& done) {
    order.push_back("completed");
    EXPECT_EQ(done.status(), CommandBufferStatus::completed);
  });
  buffer->add_scheduled_handler([&](CommandBuffer&) { order.push_back("scheduled"); });
  Encoder& blit = buffer->blit_encoder();
  blit.encode([&] { order.push_back("fill"); });
  blit.end_encoding();
  Encoder& compute = buffer->compute_encoder();
  compute.encode([&] { order.push_back("dispatch"); });
  compute.end_encoding();
  EXPECT_EQ(buffer->status(), CommandBufferStatus::not_enqueued);
  EXPECT_TRUE(order.empty());
  buffer->commit();
  EXPECT_THAT(order, testing::ElementsAre("scheduled", "fill", "dispatch", "completed"));
}

TEST(Metal, AFaultingBufferEndsWithErrorAndDoesNotExecute) {
  auto buffer = new_buffer();
  bool executed = false;
  std::string seen;
  Encoder& encoder = buffer->compute_encoder();
  encoder.encode([&] { executed = true; });
  encoder.end_encoding();
  buffer->add_completed_handler([&](CommandBuffer& done) { seen = done.error(); });
  buffer->set_error("Internal Error");
  buffer->commit();
  EXPECT_EQ(buffer->status(), CommandBufferStatus::error);
  EXPECT_EQ(seen, "Internal Error");
  EXPECT_FALSE(executed);
}

class MetalDeathTest : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "fast"); }
};

TEST_F(MetalDeathTest, SecondComputeEncoder) {
  auto buffer = new_buffer();
  buffer->compute_encoder();
  EXPECT_EXIT(buffer->compute_encoder(), testing::KilledBySignal(SIGABRT),
              "^-\\[AGXG16XFamilyCommandBuffer "
              "tryCoalescingPreviousComputeCommandEncoderWithConfig:nextEncoderClass:\\]:1091: "
              "failed assertion `A command encoder is already encoding to this command buffer'");
}

TEST_F(MetalDeathTest, SecondEncoderIsABlit) {
  auto buffer = new_buffer();
  buffer->compute_encoder();
  EXPECT_EXIT(buffer->blit_encoder(), testing::KilledBySignal(SIGABRT),
              "blitCommandEncoderCommon:\\]:836: failed assertion `A command encoder is already");
}

TEST_F(MetalDeathTest, CommitWithOpenEncoder) {
  auto buffer = new_buffer();
  buffer->compute_encoder();
  EXPECT_EXIT(buffer->commit(), testing::KilledBySignal(SIGABRT),
              "-\\[IOGPUMetalCommandBuffer validate\\]:214: failed assertion "
              "`commit command buffer with uncommitted encoder'");
}

TEST_F(MetalDeathTest, SecondCommit) {
  auto buffer = new_buffer();
  buffer->commit();
  EXPECT_EXIT(buffer->commit(), testing::KilledBySignal(SIGABRT),
              "failed assertion `commit an already committed command buffer'");
}

TEST_F(MetalDeathTest, ScheduledHandlerAfterCommit) {
  auto buffer = new_buffer();
  buffer->commit();
  EXPECT_EXIT(buffer->add_scheduled_handler([](CommandBuffer&) {}),
              testing::KilledBySignal(SIGABRT),
              "-\\[_MTLCommandBuffer addScheduledHandler:\\]:806: failed assertion "
              "`Scheduled handler provided after commit call'");
}

TEST_F(MetalDeathTest, CompletedHandlerAfterCommit) {
  auto buffer = new_buffer();
  buffer->commit();
  EXPECT_EXIT(buffer->add_completed_handler([](CommandBuffer&) {}),
              testing::KilledBySignal(SIGABRT),
              "-\\[_MTLCommandBuffer addCompletedHandler:\\]:867: failed assertion "
              "`Completed handler provided after commit call'");
}

TEST_F(MetalDeathTest, EncoderAfterCommit) {
  auto buffer = new_buffer();
  buffer->commit();
  EXPECT_EXIT(buffer->compute_encoder(), testing::KilledBySignal(SIGABRT),
              "^failed assertion _status < MTLCommandBufferStatusCommitted at line 323 in "
              "-\\[IOGPUMetalCommandBuffer setCurrentCommandEncoder:\\]\n$");
}

TEST_F(MetalDeathTest, EndedEncoderTakesNothing) {
  auto buffer = new_buffer();
  Encoder& encoder = buffer->compute_encoder();
  encoder.end_encoding();
  EXPECT_EXIT(encoder.encode([] {}), testing::KilledBySignal(SIGABRT), "has ended");
  EXPECT_EXIT(encoder.end_encoding(), testing::KilledBySignal(SIGABRT), "already been called");
}

}  // namespace
}  // namespace mpsprobe::sim::metal
