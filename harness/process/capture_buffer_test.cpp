#include "harness/process/capture_buffer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mpsprobe {
namespace {

using testing::Contains;
using testing::HasSubstr;

TEST(CaptureBuffer, ShortTextIsKeptWhole) {
  CaptureBuffer buffer(100);
  buffer.append("hello ");
  buffer.append("world");
  const Capture capture = buffer.take();
  EXPECT_EQ(capture.text(), "hello world");
  EXPECT_EQ(capture.dropped(), 0U);
}

TEST(CaptureBuffer, HeadAndTailAreKeptAndTheRestCounted) {
  CaptureBuffer buffer(10);
  for (int i = 0; i < 1000; ++i) buffer.append(std::to_string(i % 10));
  const Capture capture = buffer.take();
  EXPECT_EQ(capture.head, "0123456789");
  EXPECT_EQ(capture.tail, "0123456789");
  EXPECT_EQ(capture.bytes, 1000U);
  EXPECT_EQ(capture.dropped(), 980U);
  EXPECT_THAT(capture.text(), HasSubstr("980 bytes left out"));
}

TEST(CaptureBuffer, ATextThatIsAskedForIsKeptOnceWhereverItStands) {
  const std::string noise(1000, '.');
  for (size_t chunk : {1UL, 7UL, 4000UL}) {
    CaptureBuffer buffer(10, {"OOPS, no lane", "never"});
    const std::string text = noise + "\nOOPS, no lane\n" + noise + "\nOOPS, no lane\n" + noise;
    for (size_t at = 0; at < text.size(); at += chunk) buffer.append(text.substr(at, chunk));
    EXPECT_THAT(buffer.take().noticed, testing::ElementsAre(HasSubstr("OOPS, no lane"))) << chunk;
  }
}

TEST(CaptureBuffer, EveryChunkingGivesTheSame) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += static_cast<char>('a' + i % 26);
  std::string first;
  for (size_t chunk : {1UL, 7UL, 64UL, 999UL, 5000UL}) {
    CaptureBuffer buffer(100);
    for (size_t at = 0; at < text.size(); at += chunk) buffer.append(text.substr(at, chunk));
    const std::string kept = buffer.take().text();
    if (first.empty()) first = kept;
    EXPECT_EQ(kept, first) << chunk;
  }
}

TEST(CaptureBuffer, AFailureBuriedInAFloodIsNoticed) {
  CaptureBuffer buffer(50);
  const std::string noise(1000, '.');
  for (int i = 0; i < 100; ++i) buffer.append(noise + "\n");
  buffer.append("-[X y]:1: failed ");  // the words straddle two reads
  buffer.append("assertion `boom'\n");
  for (int i = 0; i < 100; ++i) buffer.append(noise + "\n");
  const Capture capture = buffer.take();
  EXPECT_THAT(capture.noticed, Contains(HasSubstr("failed assertion `boom'")));
  EXPECT_THAT(capture.text(), HasSubstr("failed assertion `boom'"));
}

}  // namespace
}  // namespace mpsprobe
