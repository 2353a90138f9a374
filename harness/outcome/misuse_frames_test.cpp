#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <map>
#include <string>

#include "harness/outcome/crash_title.h"
#include "harness/outcome/judge.h"
#include "harness/outcome/process_for_tests.h"
#include "harness/signature/function_name.h"
#include "harness/signature/rules.h"

namespace mpsprobe {
namespace {

StackFrame stack_frame(std::string_view image, std::string_view function) {
  StackFrame frame;
  frame.image = image;
  frame.function = function;
  return frame;
}

ProcessRecord told(const char* words) {
  ProcessRecord process = ended_process(Signaled{SIGTRAP, false}, "");
  process.crash_report.emplace();
  process.crash_report->application_info = {words};
  return process;
}

ProcessRecord seen(std::string_view image, std::string_view function, int signal) {
  ProcessRecord process = ended_process(Signaled{signal, false}, "");
  ThreadStack& stack = process.stacks.threads.emplace_back();
  stack.faulting = true;
  stack.frames = {stack_frame("libsystem_kernel.dylib", "__pthread_kill"),
                  stack_frame("libsystem_c.dylib", "abort"), stack_frame(image, function),
                  stack_frame("lanes", "-[Lanes take]")};
  return process;
}

// What the libraries write where their functions find it.
const std::map<std::string_view, const char*> kWords = {
    {"__DISPATCH_WAIT_FOR_QUEUE__",
     "BUG IN CLIENT OF LIBDISPATCH: dispatch_sync called on queue already owned by current thread"},
    {"_dispatch_assert_queue_fail",
     "BUG IN CLIENT OF LIBDISPATCH: Assertion failed: Block was expected to execute on queue "
     "[lanes (0x600)]"},
    {"_dispatch_assert_queue_barrier_fail",
     "BUG IN CLIENT OF LIBDISPATCH: Assertion failed: Block was not expected to execute on queue "
     "[lanes (0x600)]"},
    {"_dispatch_group_dispose",
     "BUG IN CLIENT OF LIBDISPATCH: Group object deallocated while in use"},
    {"_dispatch_lane_resume", "BUG IN CLIENT OF LIBDISPATCH: Over-resume of an inactive object"},
    {"_dispatch_once_wait", "BUG IN CLIENT OF LIBDISPATCH: trying to lock recursively"},
    {"_dispatch_queue_xref_dispose", "BUG IN CLIENT OF LIBDISPATCH: Release of a suspended object"},
    {"_dispatch_semaphore_dispose",
     "BUG IN CLIENT OF LIBDISPATCH: Semaphore object deallocated while in use (current value < "
     "original value)"},
    {"___BUG_IN_CLIENT_OF_LIBMALLOC_POINTER_BEING_FREED_WAS_NOT_ALLOCATED",
     "lanes(12,0x1f) malloc: *** error for object 0x1500: pointer being freed was not allocated"},
    {"dispatch_group_leave",
     "BUG IN CLIENT OF LIBDISPATCH: Unbalanced call to dispatch_group_leave()"},
    {"dispatch_semaphore_signal",
     "BUG IN CLIENT OF LIBDISPATCH: Unbalanced call to dispatch_semaphore_signal()"},
    {"_os_unfair_lock_corruption_abort", "BUG IN CLIENT OF LIBPLATFORM: os_unfair_lock is corrupt"},
    {"_os_unfair_lock_recursive_abort",
     "BUG IN CLIENT OF LIBPLATFORM: Trying to recursively lock an os_unfair_lock"},
    {"_os_unfair_lock_unowned_abort",
     "BUG IN CLIENT OF LIBPLATFORM: Unlock of an os_unfair_lock not owned by current thread"},
    {"weak_register_no_lock",
     "objc[12]: Cannot form weak reference to instance (0x600) of class Lane. It is possible that "
     "this object was over-released, or is in the process of deallocation."},
    {"__cxa_guard_acquire",
     "libc++abi: __cxa_guard_acquire detected recursive initialization: do you have a "
     "function-local static variable whose initialization depends on that function?"},
    {"__cxa_pure_virtual", "libc++abi: Pure virtual function called!"},
};

// The stack alone, the words alone, and both.
TEST(MisuseFrames, HaveOneTitleWhateverIsKnown) {
  for (const MisuseFrame& row : Rules::standard().misuses) {
    ASSERT_TRUE(kWords.contains(row.function)) << row.function;
    ProcessRecord words = told(kWords.at(row.function));
    EXPECT_EQ(judge(words).signature, row.title);
    ProcessRecord stack = seen(row.image, row.function, SIGTRAP);
    EXPECT_EQ(judge(stack).signature, row.title) << row.function;
    stack.crash_report = words.crash_report;
    EXPECT_EQ(judge(stack).signature, row.title);
    EXPECT_EQ(judge(seen(row.image, row.function, SIGABRT)).signature, row.title);
  }
}

TEST(MisuseFrames, AreNamesAsStacksHaveThem) {
  for (const MisuseFrame& row : Rules::standard().misuses) {
    EXPECT_EQ(normalise_image(row.image), row.image);
    EXPECT_EQ(normalise_function(row.function), row.function);
  }
}

TEST(MisuseTitle, LooksNoFurtherThanWhatPassesThingsOn) {
  const StackFrame misuse = stack_frame("libdispatch.dylib", "dispatch_group_leave$VARIANT$mp");
  EXPECT_EQ(misuse_title({stack_frame("libsystem_c.dylib", "abort"), misuse}),
            "libdispatch: Unbalanced call to dispatch_group_leave()");
  EXPECT_EQ(misuse_title({stack_frame("lanes", "-[Lanes take]"), misuse}), "");
  EXPECT_EQ(misuse_title({stack_frame("lanes", "dispatch_group_leave")}), "");
  EXPECT_EQ(misuse_title({}), "");
}

// A bad access where such a function runs is no misuse that it found.
TEST(MisuseTitle, IsOfNoUseForABadAccess) {
  EXPECT_THAT(judge(seen("libdispatch.dylib", "dispatch_group_leave", SIGSEGV)).signature,
              testing::StartsWith("bad access"));
}

}  // namespace
}  // namespace mpsprobe
