#include "scenarios/selftest/misbehaviour.h"

#include <array>

#include "scenarios/selftest/faults.h"
#include "scenarios/selftest/noise.h"

namespace mpsprobe {
namespace {

void nothing() {}

constexpr std::array kMisbehaviours{
    Misbehaviour{"pass", "does nothing wrong", Stage::launch, nothing},
    Misbehaviour{"slow", "takes long, but gets on", Stage::every_launch, noise::slow},
    Misbehaviour{"null_dereference", "reads at a small address", Stage::launch,
                 faults::null_dereference},
    Misbehaviour{"nested_crash", "the same, three calls deep", Stage::launch, faults::nested_crash},
    Misbehaviour{"null_call", "calls a function at address 0", Stage::launch, faults::null_call},
    Misbehaviour{"wild_call", "calls an address where nothing is", Stage::launch,
                 faults::wild_call},
    Misbehaviour{"heap_call", "calls a block of the heap", Stage::launch, faults::heap_call},
    Misbehaviour{"bus_error", "reads a mapped file beyond its end", Stage::launch,
                 faults::bus_error},
    Misbehaviour{"trap", "breakpoint instruction", Stage::launch, faults::trap},
    Misbehaviour{"illegal_instruction", "an instruction that is none", Stage::launch,
                 faults::illegal_instruction},
    Misbehaviour{"division", "integer division by zero", Stage::launch, faults::division},
    Misbehaviour{"stack_overflow", "recursion without end", Stage::launch, faults::stack_overflow},
    Misbehaviour{"wild_free", "frees what malloc never gave", Stage::launch, faults::wild_free},
    Misbehaviour{"heap_crash", "crashes inside malloc, of a heap that was overwritten before",
                 Stage::launch, faults::heap_crash},
    Misbehaviour{"abort", "abort() without a word", Stage::launch, faults::abort_silently},
    Misbehaviour{"abort_encoder", "aborts as Metal does: encoder already encoding", Stage::launch,
                 noise::abort_encoder_already_encoding},
    Misbehaviour{"abort_uncommitted", "aborts as Metal does: commit with uncommitted encoder",
                 Stage::launch, noise::abort_uncommitted_encoder},
    Misbehaviour{"abort_scheduled", "aborts as Metal does: scheduled handler after commit",
                 Stage::launch, noise::abort_scheduled_after_commit},
    Misbehaviour{"abort_completed", "aborts as Metal does: completed handler after commit",
                 Stage::launch, noise::abort_completed_after_commit},
    Misbehaviour{"abort_committed", "aborts as Metal does: committed twice", Stage::launch,
                 noise::abort_already_committed},
    Misbehaviour{"abort_status", "aborts as Metal does: status is committed", Stage::launch,
                 noise::abort_status_committed},
    Misbehaviour{"abort_blit", "aborts as Metal does: blit encoder", Stage::launch,
                 noise::abort_blit_encoder},
    Misbehaviour{"abort_allocator", "aborts as the MPS allocator does at shutdown", Stage::launch,
                 noise::abort_allocator_shutdown},
    Misbehaviour{"abort_wrapped", "aborts with a text that is broken over two lines", Stage::launch,
                 noise::abort_wrapped_text},
    Misbehaviour{"exception", "throws out of the operation", Stage::launch, faults::throws},
    Misbehaviour{"exception_in_thread", "an exception that nobody catches, in a thread",
                 Stage::launch, faults::uncaught_in_thread},
    Misbehaviour{"exception_on_main", "throws on the main thread, touching the device",
                 Stage::touch, faults::throws},
    Misbehaviour{"exit_zero", "leaves halfway with 0, without a result", Stage::launch,
                 faults::exit_zero},
    Misbehaviour{"exit_eleven", "leaves halfway with 11, which is not SIGSEGV", Stage::launch,
                 faults::exit_eleven},
    Misbehaviour{"closes_channels", "closes every descriptor and leaves with 0", Stage::launch,
                 noise::closes_channels},
    Misbehaviour{"killed", "SIGKILL from another process", Stage::launch,
                 faults::killed_from_outside},
    Misbehaviour{"deadlock", "waits for a lock that nobody releases", Stage::launch,
                 faults::deadlock},
    Misbehaviour{"lock_cycle", "each thread waits for the lock of the next", Stage::launch, nullptr,
                 faults::lock_cycle},
    Misbehaviour{"lock_orphaned", "waits for a lock whose owner has ended", Stage::launch,
                 faults::lock_orphaned},
    Misbehaviour{"busy_loop", "spins without progress", Stage::launch, faults::busy_loop},
    Misbehaviour{"misleading_frame", "spins where no stack can be taken", Stage::launch,
                 faults::misleading_frame},
    Misbehaviour{"abort_when_interrupted", "sleeps, and aborts on a signal", Stage::launch,
                 faults::abort_when_interrupted},
    Misbehaviour{"hang_early", "waits for ever in the first contact", Stage::touch,
                 faults::deadlock},
    Misbehaviour{"stopped", "stopped by SIGSTOP", Stage::launch, faults::stopped},
    Misbehaviour{"ignores_sigterm", "hangs and ignores SIGTERM", Stage::launch,
                 faults::ignores_sigterm},
    Misbehaviour{"grandchild", "leaves a child that keeps the pipes open", Stage::launch,
                 noise::grandchild_in_group},
    Misbehaviour{"grandchild_session", "leaves a child in a session of its own", Stage::launch,
                 noise::grandchild_in_own_session},
    Misbehaviour{"flood", "1 GiB on stderr", Stage::launch, noise::flood_stderr},
    Misbehaviour{"garbage", "binary on every channel", Stage::launch, noise::garbage_everywhere},
    Misbehaviour{"scribble", "overwrites the flight recorder", Stage::launch,
                 noise::scribbled_recorder},
    Misbehaviour{"hostile_text", "markup, escapes and broken UTF-8, then aborts", Stage::launch,
                 noise::hostile_text},
    Misbehaviour{"forged_result", "reports a result, then crashes", Stage::launch,
                 noise::forged_result},
    Misbehaviour{"gpu_error", "prints a GPU error and goes on", Stage::launch,
                 noise::gpu_error_text},
    Misbehaviour{"wrong_numbers", "computes a wrong result", Stage::check, nullptr},
    Misbehaviour{"memory", "takes 128 MiB more with each launch", Stage::every_launch,
                 faults::memory_hog},
    Misbehaviour{"crash_early", "crashes before the device is up", Stage::make,
                 faults::null_dereference},
    Misbehaviour{"crash_teardown", "crashes in tear-down, after its result", Stage::teardown,
                 faults::null_dereference},
    Misbehaviour{"slow_teardown", "its threads end in tear-down, one after the other",
                 Stage::launch, noise::slow_teardown},
    Misbehaviour{"hang_teardown", "waits for ever in tear-down, after its result", Stage::teardown,
                 faults::deadlock},
};

}  // namespace

std::span<const Misbehaviour> misbehaviours() {
  return kMisbehaviours;
}

}  // namespace mpsprobe
