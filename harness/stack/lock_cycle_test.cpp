#include <gtest/gtest.h>

#include <utility>

#include "harness/stack/symboliser.h"

namespace mpsprobe {
namespace {

using Ids = std::vector<uint64_t>;

/// Threads in this order, each with the owner of the lock that it waits for; 0: it waits for none.
std::vector<ThreadStack> waiting(const std::vector<std::pair<uint64_t, uint64_t>>& waits) {
  std::vector<ThreadStack> threads;
  for (const auto& [thread, owner] : waits) {
    ThreadStack& stack = threads.emplace_back();
    stack.thread_id = thread;
    if (owner != 0) stack.wait = {Wait::Kind::lock, 0x1000 + owner, owner, false};
  }
  return threads;
}

TEST(LockCycle, GoesRoundFromTheFirstThread) {
  EXPECT_EQ(lock_cycle(waiting(
                {{11, 12}, {12, 13}, {13, 14}, {14, 15}, {15, 16}, {16, 17}, {17, 18}, {18, 11}})),
            (Ids{11, 12, 13, 14, 15, 16, 17, 18}));
}

TEST(LockCycle, LeavesOutThoseThatOnlyWaitForIt) {
  EXPECT_EQ(lock_cycle(waiting({{1, 2}, {2, 3}, {3, 5}, {4, 0}, {5, 3}, {6, 5}})), (Ids{3, 5}));
}

TEST(LockCycle, OfTwoTakesTheOneOfTheFirstThread) {
  EXPECT_EQ(lock_cycle(waiting({{9, 3}, {7, 8}, {8, 7}, {3, 9}})), (Ids{9, 3}));
}

TEST(LockCycle, CanBeOneThreadAlone) {
  EXPECT_EQ(lock_cycle(waiting({{1, 2}, {2, 2}})), Ids{2});
}

TEST(LockCycle, IsNotThereInAChainOrWithoutOwners) {
  EXPECT_EQ(lock_cycle(waiting({{1, 2}, {2, 3}, {3, 0}})), Ids{});
  EXPECT_EQ(lock_cycle(waiting({{1, 77}, {2, 1}})), Ids{});
  EXPECT_EQ(lock_cycle({}), Ids{});
}

TEST(LockCycle, DoesNotCountOtherWaitsOrOwnersThatAreGone) {
  std::vector<ThreadStack> threads = waiting({{1, 2}, {2, 1}});
  threads[0].wait.kind = Wait::Kind::condition;
  EXPECT_EQ(lock_cycle(threads), Ids{});
  threads[0].wait.kind = Wait::Kind::lock;
  threads[0].wait.owner_gone = true;
  EXPECT_EQ(lock_cycle(threads), Ids{});
}

}  // namespace
}  // namespace mpsprobe
