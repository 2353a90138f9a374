// What is read of a thread that macOS interrupted, with registers as public crash reports show
// them.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/ucontext.h>

#include <array>
#include <atomic>
#include <map>
#include <vector>

#include "harness/wire/flight_recorder.h"
#include "scenarios/evidence/arm_syndrome.h"
#include "scenarios/evidence/frame_chain.h"

namespace mpsprobe {
namespace {

using testing::ElementsAre;

// Syndromes and their words as crash reports of macOS 13 to 26 print them in "esr".
constexpr uint32_t kDataAbort = 0x92000006;              // (Data Abort) byte read Translation fault
constexpr uint32_t kDataAbortLevel3 = 0x92000007;        // the same, another level of the table
constexpr uint32_t kBreakpoint = 0xf2000001;             // (Breakpoint) brk 1
constexpr uint32_t kPointerAuthentication = 0x72000000;  // class 0x1c of Arm's manual, key IA
constexpr uint32_t kSystemCall = 0x56000080;  // " Address size fault", in every waiting thread

TEST(ArmSyndrome, TellsAFaultFromASignalThatWasSent) {
  EXPECT_TRUE(is_fault_of_instruction(SIGSEGV, kDataAbort));
  EXPECT_TRUE(is_fault_of_instruction(SIGBUS, kDataAbortLevel3));
  EXPECT_TRUE(is_fault_of_instruction(SIGTRAP, kBreakpoint));
  EXPECT_TRUE(is_fault_of_instruction(SIGBUS, kPointerAuthentication));
  EXPECT_FALSE(is_fault_of_instruction(SIGILL, kPointerAuthentication));
  // raise() and kill() arrive in a system call.
  for (int signal : {SIGSEGV, SIGBUS, SIGTRAP, SIGILL, SIGFPE, SIGABRT}) {
    EXPECT_FALSE(is_fault_of_instruction(signal, kSystemCall)) << signal;
  }
  // Sent to a thread whose last exception was a page that the kernel then brought in.
  EXPECT_FALSE(is_fault_of_instruction(SIGABRT, kDataAbort));
  EXPECT_FALSE(is_fault_of_instruction(SIGSEGV, kBreakpoint));
}

std::map<uint64_t, FrameRecord> memory;

bool read_memory(uint64_t address, FrameRecord& record) {
  const auto at = memory.find(address);
  if (at == memory.end()) return false;
  record = at->second;
  return true;
}

std::vector<uint64_t> walk(const FrameStart& start) {
  std::vector<uint64_t> frames(recorder_layout::kFrames);
  std::atomic<uint32_t> count = 0;
  walk_frame_chain(start, read_memory, frames.data(), count);
  frames.resize(count);
  return frames;
}

TEST(FrameChain, SignaturesAreTakenOffAndTheLinkIsAFrameWhereThereIsNoOther) {
  // Counter, frame and signed link of a public report (arm64e, in the dyld shared cache), whose
  // function had no frame of its own yet.
  memory = {{0x16ae2f900, {0x16ae2fa00, 0x1234'0001'8897'0000}}, {0x16ae2fa00, {0, 0x18890'0000}}};
  EXPECT_THAT(walk({0x1889b04b0, 0x16ae2f900, 0x8f7a'8001'8897'b830}),
              ElementsAre(0x1889b04b0, 0x18897b830, 0x188970000, 0x188900000));
}

TEST(FrameChain, ALinkThatTheChainHoldsIsNotRepeated) {
  memory = {{0x100, {0x200, 0x8f7a'8001'8897'b830}}, {0x200, {0, 0}}};
  EXPECT_THAT(walk({0x1889b04b0, 0x100, 0x18897b830}), ElementsAre(0x1889b04b0, 0x18897b830));
}

#if defined(__linux__) && defined(__x86_64__)
std::array<uint64_t, recorder_layout::kFrames> called_nothing;
std::atomic<uint32_t> calls_of_nothing = 0;

// The stack of this process, as the handler of a Mac reads it: beyond what its objects are.
__attribute__((no_sanitize("address"))) bool read_stack(uint64_t address, FrameRecord& record) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): registers hold numbers
  const auto* const words = reinterpret_cast<const uint64_t*>(address);
  record = {words[0], words[1]};
  return true;
}

void note_call(int, siginfo_t*, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto stack = static_cast<uint64_t>(registers[REG_RSP]);
  // No chain: this program may have been built without frame pointers.
  walk_frame_chain(
      {static_cast<uint64_t>(registers[REG_RIP]), 0, 0, stack},
      [](uint64_t at, FrameRecord& record) { return at != 0 && read_stack(at, record); },
      called_nothing.data(), calls_of_nothing);
  // As if what was called had returned.
  registers[REG_RIP] = static_cast<int64_t>(called_nothing[1]);
  registers[REG_RSP] += 8;
}

__attribute__((noinline, no_sanitize("undefined"))) void call_nothing() {
  void (*volatile function)() = nullptr;
  function();
  ++calls_of_nothing;  // no tail call
}

TEST(FrameChain, ACallThroughANullPointerHasItsCaller) {
  struct sigaction action {};
  struct sigaction before {};
  action.sa_sigaction = note_call;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, &before);
  call_nothing();
  sigaction(SIGSEGV, &before, nullptr);
  ASSERT_EQ(calls_of_nothing, 3U);
  EXPECT_EQ(called_nothing[0], 0U);
  const auto function = reinterpret_cast<uint64_t>(&call_nothing);
  EXPECT_THAT(called_nothing[1],
              testing::AllOf(testing::Gt(function), testing::Lt(function + 1000)));
}
#endif

TEST(FrameChain, ACallThatHasJustBeenMadeHasItsCallerOnTheStack) {
  memory = {{0x80, {0x55, 0}}, {0x100, {0x200, 0x66}}, {0x200, {0, 0}}};
  EXPECT_THAT(walk({0, 0x100, 0, 0x80}), ElementsAre(0, 0x55, 0x66));
  EXPECT_THAT(walk({0, 0x100, 0, 0x90}), ElementsAre(0, 0x66)) << "what cannot be read is no frame";
}

TEST(FrameChain, EndsWhereTheStackIsBroken) {
  memory = {{0x300, {0x200, 0x11}}};  // a caller below its callee
  EXPECT_THAT(walk({0x10, 0x300, 0}), ElementsAre(0x10, 0x11));
  EXPECT_THAT(walk({0x10, 0xdead, 0}), ElementsAre(0x10));
  memory = {};
  for (uint64_t i = 1; i <= 1000; ++i) memory[i * 16] = {(i + 1) * 16, i};
  EXPECT_EQ(walk({0x10, 16, 0}).size(), recorder_layout::kFrames);
}

}  // namespace
}  // namespace mpsprobe
