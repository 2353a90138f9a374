#include "harness/wire/flight_recorder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <system_error>
#include <thread>

#include "harness/wire/shared_memory.h"

namespace mpsprobe {
namespace {

using recorder_layout::Block;

class FlightRecorderTest : public testing::Test {
 protected:
  SharedMemory memory_ = SharedMemory::create(sizeof(Block));
  Block* block_ = static_cast<Block*>(memory_.data());
  FlightRecorder recorder_{block_};
  void SetUp() override { FlightRecorder::initialise(block_); }
};

TEST_F(FlightRecorderTest, TellsWhereEachThreadWas) {
  recorder_.set_phase(Phase::run);
  recorder_.begin_thread(0, "linear");
  recorder_.begin_thread(2, "tanh");
  recorder_.enter_launch(2, 7);
  const RecorderReading reading = read_recorder(*block_);
  EXPECT_TRUE(reading.intact);
  EXPECT_EQ(reading.phase, Phase::run);
  ASSERT_EQ(reading.threads.size(), 2U);
  EXPECT_EQ(reading.threads[0].operation, "linear");
  EXPECT_EQ(reading.threads[0].step, Step::idle);
  EXPECT_EQ(reading.threads[1].thread, 2U);
  EXPECT_EQ(reading.threads[1].iteration, 7U);
  EXPECT_EQ(reading.threads[1].step, Step::launching);
}

TEST_F(FlightRecorderTest, OutlivesTheProcessThatWroteIt) {
  const pid_t child = fork();
  if (child == 0) {
    recorder_.begin_thread(1, "mm");
    recorder_.at(1, 5, Step::synchronising);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  const RecorderReading reading = read_recorder(*block_);
  ASSERT_EQ(reading.threads.size(), 1U);
  EXPECT_EQ(reading.threads[0].step, Step::synchronising);
  EXPECT_EQ(reading.threads[0].iteration, 5U);
}

TEST_F(FlightRecorderTest, CountsThreadsInsideALaunchAtTheSameTime) {
  recorder_.begin_thread(0, "mm");
  recorder_.begin_thread(1, "mm");
  recorder_.enter_launch(0, 0);
  recorder_.leave_launch();
  recorder_.enter_launch(1, 0);
  EXPECT_EQ(read_recorder(*block_).most_inside, 1U);
  recorder_.enter_launch(0, 1);
  recorder_.leave_launch();
  recorder_.leave_launch();
  const RecorderReading reading = read_recorder(*block_);
  EXPECT_EQ(reading.most_inside, 2U);
  EXPECT_EQ(reading.launches, 3U);
  EXPECT_EQ(reading.overlapped, 1U);
}

TEST_F(FlightRecorderTest, ProgressGrowsWithEveryStep) {
  recorder_.begin_thread(3, "mm");
  const uint64_t before = read_progress(*block_);
  recorder_.at(3, 0, Step::waiting);
  EXPECT_GT(read_progress(*block_), before);
}

TEST_F(FlightRecorderTest, ConcurrentWritersOfTheirOwnSlotsLoseNothing) {
  constexpr int kThreads = 4;
  constexpr uint32_t kIterations = 5000;
  std::vector<std::thread> threads;
  for (uint32_t slot = 0; slot < kThreads; ++slot) {
    threads.emplace_back([this, slot] {
      recorder_.begin_thread(slot, "mm");
      for (uint32_t i = 0; i < kIterations; ++i) {
        recorder_.enter_launch(slot, i);
        recorder_.leave_launch();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const RecorderReading reading = read_recorder(*block_);
  EXPECT_EQ(reading.launches, uint64_t{kThreads} * kIterations);
  EXPECT_EQ(block_->inside.load(), 0U);
}

TEST_F(FlightRecorderTest, ScribbledMemoryIsReadWithoutHarmAndCalledOut) {
  std::memset(static_cast<void*>(block_), 0xff, sizeof(Block));
  const RecorderReading reading = read_recorder(*block_);
  EXPECT_FALSE(reading.intact);
  EXPECT_LE(reading.threads.size(), recorder_layout::kThreads);
  EXPECT_LE(reading.crash.frames.size(), recorder_layout::kFrames);
  for (const ThreadPlace& place : reading.threads) EXPECT_LE(place.operation.size(), 32U);
}

TEST_F(FlightRecorderTest, AddressesAreToldAsImageAndOffset) {
  recorder_layout::Image& image = block_->images[0];
  image.base = 0x10000;
  image.begin = 0x11000;
  image.end = 0x12000;
  std::strncpy(image.path, "libtorch_cpu.so", sizeof(image.path) - 1);
  block_->image_count.store(1);
  block_->crash.frames[0] = 0x11234;
  block_->crash.frames[1] = 0x99999;
  block_->crash.frame_count.store(2);
  block_->crash.thread = 1;
  block_->crash.signal.store(11);
  const RecorderReading reading = read_recorder(*block_);
  ASSERT_EQ(reading.crash.frames.size(), 2U);
  EXPECT_EQ(reading.crash.frames[0].image(), "libtorch_cpu.so");
  EXPECT_EQ(reading.crash.frames[0].offset, 0x1234U);
  EXPECT_EQ(reading.crash.frames[1].image(), "");
  EXPECT_EQ(reading.crash.frames[1].offset, 0x99999U);
  EXPECT_EQ(reading.crash.thread, 1);
}

TEST(SharedMemory, AttachingToSomethingTooSmallIsRefused) {
  const SharedMemory small = SharedMemory::create(4096);
  EXPECT_THROW(SharedMemory::attach(dup(small.fd()), sizeof(Block)), std::system_error);
}

#ifdef __linux__
TEST(SharedMemory, AChildCannotCutItShort) {
  const SharedMemory memory = SharedMemory::create(8192);
  EXPECT_NE(ftruncate(memory.fd(), 0), 0);
  static_cast<char*>(memory.data())[8191] = 1;  // would be SIGBUS
}
#endif

}  // namespace
}  // namespace mpsprobe
