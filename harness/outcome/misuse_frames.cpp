#include "harness/outcome/misuse_frames.h"

#include "harness/signature/function_name.h"
#include "harness/signature/passing_frames.h"
#include "harness/signature/rules.h"

namespace mpsprobe {
namespace {

constexpr std::string_view kDispatch = "libdispatch.dylib";
constexpr std::string_view kMalloc = "libsystem_malloc.dylib";
constexpr std::string_view kPlatform = "libsystem_platform.dylib";

constexpr MisuseFrame kMisuseFrames[] = {
    {kDispatch, "__DISPATCH_WAIT_FOR_QUEUE__", kSyncOnOwnQueue},
    {kDispatch, "_dispatch_assert_queue_fail", kOnAnotherQueue},
    {kDispatch, "_dispatch_assert_queue_barrier_fail", kOnAnotherQueue},
    {kDispatch, "_dispatch_group_dispose", "libdispatch: Group object deallocated while in use"},
    {kDispatch, "_dispatch_lane_resume", kOverResume},
    {kDispatch, "_dispatch_once_wait", "libdispatch: trying to lock recursively"},
    {kDispatch, "_dispatch_queue_xref_dispose", kReleaseOfSuspended},
    {kDispatch, "_dispatch_semaphore_dispose",
     "libdispatch: Semaphore object deallocated while in use"},
    {kDispatch, "dispatch_group_leave", "libdispatch: Unbalanced call to dispatch_group_leave()"},
    {kDispatch, "dispatch_semaphore_signal",
     "libdispatch: Unbalanced call to dispatch_semaphore_signal()"},
    {kPlatform, "_os_unfair_lock_corruption_abort", kLockMisuse},
    {kPlatform, "_os_unfair_lock_recursive_abort", kLockMisuse},
    {kPlatform, "_os_unfair_lock_unowned_abort", kLockMisuse},
    {kMalloc, "___BUG_IN_CLIENT_OF_LIBMALLOC_POINTER_BEING_FREED_WAS_NOT_ALLOCATED", kNotAllocated},
    {"libobjc.A.dylib", "weak_register_no_lock", kWeakReference},
    {"", "__cxa_guard_acquire", kRecursiveInitialisation},
    {"", "__cxa_pure_virtual", kPureVirtual},
};

}  // namespace

std::span<const MisuseFrame> misuse_frames() {
  return kMisuseFrames;
}

std::string_view misuse_title(const std::vector<StackFrame>& frames) {
  for (const StackFrame& frame : frames) {
    const std::string image = normalise_image(frame.image);
    const std::string function = normalise_function(frame.function);
    for (const MisuseFrame& row : kMisuseFrames) {
      if (function == row.function && (row.image.empty() || image == row.image)) return row.title;
    }
    if (find_passing_frame(image, function) == nullptr) break;
  }
  return {};
}

}  // namespace mpsprobe
