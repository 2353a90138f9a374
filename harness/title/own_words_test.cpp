#include "harness/title/own_words.h"

#include <gtest/gtest.h>

#include <string>

namespace mpsprobe {
namespace {

TEST(OwnWords, AreWhoFailedWhereAndWhen) {
  const std::string message = "No lane of the pool is left";
  for (const char* front : {
           "worker 1: ",
           "worker 1 caught: ",
           "lane 3, round 5: ",
           "thread 3/8 died: ",
           "worker[3] threw: ",
           "failed at iteration 17: ",
           "caught c10::Error in thread 7 after 120 iterations: ",
           "[t3 i17] ",
           "[thread 3] ",
           "thread=3 iter=17 ",
           "op=add thread=3: ",
           "take() failed: ",
           "lane_stress[4711]: ",
           "stress (pid 4711): ",
           "tile 7 lost -> ",
           "giving up: ",
           "cannot restore: ",
       }) {
    EXPECT_EQ(own_words_length(front + message), std::string(front).size()) << front;
  }
}

TEST(OwnWords, AreNeitherAnOperatorsNorAValue) {
  for (const char* message : {
           "matmul: no lane of the pool is left",
           "linalg.inv: the lane could not be turned round",
           "MPSGraph failed: no lane of the pool is left",
           "not a pool: list of lanes",
           "node not in pool: lane of three",
           "Unhandled type: MPSGraph tensor",
           "thread 3 did not stop: no lane here",
           "fork() failed: Resource temporarily unavailable",
           "shader_cache[3]: corrupted header here",
           "c10::Half 3: cannot convert the lane",
           "[1 2 3] not found in axis",
           "[matmul 3] no lane of the pool",
           "worker 3 (op add): no lane of the pool",
           "odd size: [3] of the lane",
           "cannot restore: No such file or directory",
           "cannot restore: no lane of the pool is left",
           "[2, 3] must be a lane of the pool",
           "Expected 3 lanes: the pool has 4",
           "",
       }) {
    EXPECT_EQ(own_words_length(message), 0U) << message;
  }
}

TEST(OwnWords, StandAtTheEndAsWell) {
  const std::string message = "no lane of the pool is left";
  EXPECT_EQ(own_words_at_end(message + " (thread 3)"), message.size());
  EXPECT_EQ(own_words_at_end(message + " [worker 2, round 7]"), message.size());
  for (const char* kept : {" (3)", " (lane)", " [2, 3]", " (must be 4)", ""}) {
    EXPECT_EQ(own_words_at_end(message + kept), (message + kept).size()) << kept;
  }
}

}  // namespace
}  // namespace mpsprobe
