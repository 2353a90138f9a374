#include "scenarios/evidence/unwind.h"

#include <sys/ucontext.h>

#include <array>

#include "harness/wire/flight_recorder.h"
#include "scenarios/evidence/frame_chain.h"

#ifndef __APPLE__
#include <unwind.h>
#endif

namespace mpsprobe {

Interrupted interrupted_at(const void* context) {
  const auto* machine = static_cast<const ucontext_t*>(context);
#if defined(__linux__) && defined(__x86_64__)
  const auto& registers = machine->uc_mcontext.gregs;
  return {static_cast<uint64_t>(registers[REG_RIP]), static_cast<uint64_t>(registers[REG_RSP]),
          static_cast<uint64_t>(registers[REG_RBP]), 0};
#elif defined(__linux__) && defined(__aarch64__)
  const auto& registers = machine->uc_mcontext;
  return {registers.pc, registers.sp, registers.regs[29], registers.regs[30]};
#elif defined(__APPLE__) && defined(__aarch64__)
  const auto& registers = machine->uc_mcontext->__ss;
  return {registers.__pc, registers.__sp, registers.__fp, registers.__lr};
#elif defined(__APPLE__) && defined(__x86_64__)
  const auto& registers = machine->uc_mcontext->__ss;
  return {registers.__rip, registers.__rsp, registers.__rbp, 0};
#else
  (void)machine;
  return {};
#endif
}

#ifdef __APPLE__

void prepare_unwinder() {}

void unwind(void* context, Counter counter, uint64_t* frames, std::atomic<uint32_t>& count) {
  const Interrupted at = interrupted_at(context);
  FrameStart start{at.program_counter, at.frame_pointer, at.link};
#ifdef __x86_64__
  // The call that led here left its return address on the stack, and nothing ran since.
  if (counter == Counter::no_code) start.call = at.stack_pointer;
#else
  (void)counter;
#endif
  walk_frame_chain(start, frames, count);
}

#else

namespace {

// What lies between the unwinder and the interrupted code: the handler, and what it calls.
constexpr int kMostOwnFrames = 16;

/// Shows the unwinder the caller of what is no code, while it lives: as if the call had not been
/// made. The counter then stands within the instruction that calls, not behind it, where another
/// function may begin.
class AtTheCaller {
 public:
  explicit AtTheCaller(void* context) : machine_(*static_cast<ucontext_t*>(context)) {
#if defined(__x86_64__)
    auto& registers = machine_.uc_mcontext.gregs;
    counter_ = registers[REG_RIP];
    stack_ = registers[REG_RSP];
    // NOLINTNEXTLINE(performance-no-int-to-ptr): registers hold numbers
    registers[REG_RIP] = *reinterpret_cast<const int64_t*>(registers[REG_RSP]) - 1;
    registers[REG_RSP] += 8;
#elif defined(__aarch64__)
    counter_ = static_cast<int64_t>(machine_.uc_mcontext.pc);
    machine_.uc_mcontext.pc = machine_.uc_mcontext.regs[30] - 1;
#endif
  }
  AtTheCaller(const AtTheCaller&) = delete;
  AtTheCaller& operator=(const AtTheCaller&) = delete;
  ~AtTheCaller() {
#if defined(__x86_64__)
    machine_.uc_mcontext.gregs[REG_RIP] = counter_;
    machine_.uc_mcontext.gregs[REG_RSP] = stack_;
#elif defined(__aarch64__)
    machine_.uc_mcontext.pc = static_cast<uint64_t>(counter_);
#endif
  }

 private:
  ucontext_t& machine_;
  int64_t counter_ = 0;
  int64_t stack_ = 0;
};

struct Walk {
  uint64_t begin;  ///< where the interrupted code stands: what comes before is the handler's
  uint64_t* frames;
  std::atomic<uint32_t>& count;
  int own = 0;
  bool begun = false;
};

void add(Walk& walk, uint64_t address) {
  const uint32_t index = walk.count.load(std::memory_order_relaxed);
  if (index >= recorder_layout::kFrames) return;
  walk.frames[index] = address;
  walk.count.store(index + 1, std::memory_order_release);
}

_Unwind_Reason_Code take_frame(_Unwind_Context* context, void* data) {
  auto& walk = *static_cast<Walk*>(data);
  const uint64_t address = _Unwind_GetIP(context);
  if (!walk.begun) {
    walk.begun = address == walk.begin;
    return walk.begun || ++walk.own < kMostOwnFrames ? _URC_NO_REASON : _URC_END_OF_STACK;
  }
  if (address == 0) return _URC_END_OF_STACK;
  add(walk, address);
  return walk.count.load(std::memory_order_relaxed) < recorder_layout::kFrames ? _URC_NO_REASON
                                                                               : _URC_END_OF_STACK;
}

}  // namespace

void prepare_unwinder() {
  std::array<uint64_t, recorder_layout::kFrames> frames;
  std::atomic<uint32_t> count = 0;
  Walk walk{0, frames.data(), count};
  _Unwind_Backtrace(take_frame, &walk);
}

void unwind(void* context, Counter counter, uint64_t* frames, std::atomic<uint32_t>& count) {
  frames[0] = interrupted_at(context).program_counter;
  count.store(1, std::memory_order_release);
  if (counter == Counter::no_code) {
    const AtTheCaller caller(context);
    const uint64_t call = interrupted_at(context).program_counter;
    Walk walk{call, frames, count};
    add(walk, call + 1);
    _Unwind_Backtrace(take_frame, &walk);
  } else {
    Walk walk{frames[0], frames, count};
    _Unwind_Backtrace(take_frame, &walk);
  }
}

#endif

}  // namespace mpsprobe
