#include "scenarios/worker/fork_trials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <future>
#include <thread>

#include "harness/wire/honoured_axes.h"

namespace mpsprobe {
namespace {

#ifdef __linux__

/// A thread such as a library has for its work. It ends when it is told to.
class Pool {
 public:
  ~Pool() { end(); }

  void end() {
    if (!thread_.joinable()) return;
    told_.set_value();
    thread_.join();
  }

 private:
  std::promise<void> told_;
  std::thread thread_{[told = told_.get_future()] { told.wait(); }};
};

Pool* minds_forks = nullptr;

TEST(WhyNotToFork, AThreadForbidsItUnlessItsLibraryEndsItBeforeAFork) {
  if (under_thread_sanitizer()) GTEST_SKIP() << "ThreadSanitizer has a thread of its own";
  Pool pool;
  EXPECT_THAT(why_not_to_fork(),
              testing::HasSubstr("the worker has 2 threads after loading its library"));
  minds_forks = &pool;
  ASSERT_EQ(pthread_atfork(
                [] {
                  if (minds_forks != nullptr) minds_forks->end();
                },
                nullptr, nullptr),
            0);
  EXPECT_EQ(why_not_to_fork(), "");
  minds_forks = nullptr;
}

#endif

}  // namespace
}  // namespace mpsprobe
