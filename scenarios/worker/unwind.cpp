#include "scenarios/worker/unwind.h"

#include <execinfo.h>
#include <sys/ucontext.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "harness/wire/flight_recorder.h"

namespace mpsprobe {
namespace {

// The handler's own frames come on top of those that are wanted.
constexpr uint32_t kOwnFrames = 8;

}  // namespace

Interrupted interrupted_at(const void* context) {
  const auto* machine = static_cast<const ucontext_t*>(context);
#if defined(__linux__) && defined(__x86_64__)
  const auto& registers = machine->uc_mcontext.gregs;
  return {static_cast<uint64_t>(registers[REG_RIP]), static_cast<uint64_t>(registers[REG_RSP]), 0};
#elif defined(__linux__) && defined(__aarch64__)
  return {machine->uc_mcontext.pc, machine->uc_mcontext.sp, machine->uc_mcontext.regs[30]};
#elif defined(__APPLE__) && defined(__aarch64__)
  const auto& registers = machine->uc_mcontext->__ss;
  return {registers.__pc, registers.__sp, registers.__lr};
#elif defined(__APPLE__) && defined(__x86_64__)
  return {machine->uc_mcontext->__ss.__rip, machine->uc_mcontext->__ss.__rsp, 0};
#else
  (void)machine;
  return {};
#endif
}

void prepare_unwinder() {
  std::array<void*, 2> frames{};
  backtrace(frames.data(), static_cast<int>(frames.size()));
}

uint32_t unwind(const void* context, uint64_t* frames, uint32_t most) {
  const Interrupted at = interrupted_at(context);
  frames[0] = at.program_counter;
  // What the unwinder sees first is this handler; the interrupted code begins where the counter
  // stands. Where that is not found, the stack was not walked through, and what is there is not
  // its.
  std::array<void*, recorder_layout::kFrames + kOwnFrames> walked{};
  const int count = backtrace(walked.data(), static_cast<int>(walked.size()));
  uint32_t used = 1;
  const auto end = walked.begin() + count;
  const auto own = std::find_if(walked.begin(), end, [&at](const void* frame) {
    return reinterpret_cast<uint64_t>(frame) == at.program_counter;
  });
  for (auto frame = own == end ? end : own + 1; frame != end && used < most; ++frame) {
    frames[used++] = reinterpret_cast<uint64_t>(*frame);
  }
  if (used > 1 || most < 2) return used;
  // Nothing beyond the counter: most likely it points to no code.
  uint64_t caller = at.link;
#if defined(__x86_64__)
  // The call has just pushed it. The page below a bad pointer's call is still the caller's stack.
  // NOLINTNEXTLINE(performance-no-int-to-ptr): registers hold numbers
  if (at.program_counter < 4096) caller = *reinterpret_cast<const uint64_t*>(at.stack_pointer);
#endif
  if (caller != 0) frames[used++] = caller;
  return used;
}

}  // namespace mpsprobe
