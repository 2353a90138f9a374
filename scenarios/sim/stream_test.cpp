#include "scenarios/sim/stream.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

namespace mpsprobe::sim {
namespace {

TEST(Stream, ExecutesWhenSynchronised) {
  metal::Device device;
  Stream stream(device);
  stream.encode(EncodePath::graph);
  stream.encode(EncodePath::nograph);
  stream.encode(EncodePath::blit);
  stream.encode(EncodePath::none);
  EXPECT_EQ(stream.executed(), 0u);
  stream.synchronise();
  EXPECT_EQ(stream.executed(), 3u);
}

TEST(Stream, CommitsByItselfWhenABufferIsFull) {
  metal::Device device;
  Stream stream(device);
  for (int i = 0; i < 1000; ++i) stream.encode(EncodePath::nograph);
  EXPECT_GT(stream.executed(), 900u);
  EXPECT_GT(stream.queue().created(), 10u);
}

TEST(Stream, AFailedBufferLosesItsWorkAndSaysSoOnStderr) {
  metal::Device device;
  Stream stream(device);
  stream.encode(EncodePath::nograph);
  testing::internal::CaptureStderr();
  stream.fail_current("Internal Error (0000000e:Internal Error)");
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("Error: command buffer exited with error status."), std::string::npos);
  EXPECT_NE(told.find("Internal Error (0000000e:Internal Error)"), std::string::npos);
  EXPECT_EQ(stream.executed(), 0u);
  stream.encode(EncodePath::nograph);
  stream.synchronise();
  EXPECT_EQ(stream.executed(), 1u);
}

TEST(Stream, IsSafeForManyThreads) {
  metal::Device device;
  Stream stream(device);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) stream.encode(EncodePath::graph);
    });
  }
  for (std::thread& thread : threads) thread.join();
  stream.synchronise();
  EXPECT_EQ(stream.executed(), 2000u);
}

Stream* stream_of_new_thread(StreamPool& pool, bool ask) {
  Stream* stream = nullptr;
  std::thread([&] {
    if (ask) pool.use_pool_stream();
    stream = &pool.current();
  }).join();
  return stream;
}

TEST(StreamPool, ThreadsShareTheDefaultStreamUnlessTheyAsk) {
  metal::Device device;
  StreamPool pool(device, Streams::shared);
  EXPECT_EQ(stream_of_new_thread(pool, false), stream_of_new_thread(pool, false));
  EXPECT_NE(stream_of_new_thread(pool, true), stream_of_new_thread(pool, true));
}

TEST(StreamPool, PerThreadGivesThirtyTwoStreamsInTurn) {
  metal::Device device;
  StreamPool pool(device, Streams::per_thread);
  std::set<Stream*> streams;
  for (int i = 0; i < 40; ++i) streams.insert(stream_of_new_thread(pool, false));
  EXPECT_EQ(streams.size(), 32u);
}

TEST(StreamPool, SynchroniseAllReachesTheStreamsOfOtherThreads) {
  metal::Device device;
  StreamPool pool(device, Streams::per_thread);
  Stream* other = nullptr;
  std::thread([&] {
    other = &pool.current();
    other->encode(EncodePath::nograph);
  }).join();
  EXPECT_EQ(other->executed(), 0u);
  pool.synchronise_all();
  EXPECT_EQ(other->executed(), 1u);
}

}  // namespace
}  // namespace mpsprobe::sim
