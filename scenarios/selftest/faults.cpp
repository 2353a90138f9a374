#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <thread>

#include "scenarios/selftest/misbehaviour.h"

// The faults are the point: no sanitizer may turn them into something else.
#if defined(__clang__) || defined(__GNUC__)
#define MPSPROBE_NO_SANITIZE \
  __attribute__((no_sanitize("address", "undefined", "thread"), noinline))
#endif

namespace mpsprobe::faults {
namespace {

volatile int sink = 0;

[[noreturn]] void wait_forever() {
  for (;;) pause();
}

MPSPROBE_NO_SANITIZE int recurse(int depth) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  if (depth < 0) return frame[0];
  return recurse(depth + 1) + frame[0];
}

}  // namespace

// Functions with names of their own that no compiler may fold into one another: they are what a
// stack has to show.
MPSPROBE_NO_SANITIZE void nested_inner(int depth) {
  volatile uintptr_t address = 0x10;
  *reinterpret_cast<volatile int*>(address) = depth;  // NOLINT(performance-no-int-to-ptr)
}
MPSPROBE_NO_SANITIZE void nested_middle(int depth) {
  nested_inner(depth + 1);
  sink = depth;
}
MPSPROBE_NO_SANITIZE void nested_outer(int depth) {
  nested_middle(depth + 1);
  sink = depth;
}

void nested_crash() {
  nested_outer(0);
  sink = 1;
}

MPSPROBE_NO_SANITIZE void null_call() {
  void (*volatile function)() = nullptr;
  function();
  sink = 1;
}

namespace {

MPSPROBE_NO_SANITIZE void call(void* address) {
  const auto function = reinterpret_cast<void (*)()>(address);
  function();
  sink = 1;
}

}  // namespace

MPSPROBE_NO_SANITIZE void wild_call() {
  constexpr uintptr_t kNowhere = 0xdeadbeef000;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): what a table overwritten by another thread holds
  void* volatile address = reinterpret_cast<void*>(kNowhere);
  call(address);
  sink = 1;
}

MPSPROBE_NO_SANITIZE void heap_call() {
  void* volatile block = std::calloc(64, 1);
  call(block);
  std::free(block);
}

namespace {

constexpr size_t kBlockBytes = 40;

// The one caller of all blocks: the malloc of macOS 26 keeps the blocks of different ones apart.
MPSPROBE_NO_SANITIZE void* take_block() {
  void* volatile block = std::malloc(kBlockBytes);
  return block;
}

}  // namespace

MPSPROBE_NO_SANITIZE void heap_crash() {
  // The list of free blocks then holds blocks of which all is overwritten that
  // allocators keep in one: the pointer to the next, and what guards that. In glibc the next but
  // one allocation follows the pointer, which is kept exclusive-ored with its own address (2.32,
  // safe-linking) and must be a multiple of 16. The allocators of macOS look at their guards.
  // Without its nano zone macOS gives the last block back unseen, and looks at those before it; of
  // two that touch it makes one.
  std::array<void*, 16> blocks{};
  for (void*& block : blocks) block = take_block();
  for (size_t i = 0; i < blocks.size(); i += 2) std::free(blocks[i]);
  for (size_t i = 0; i < blocks.size(); i += 2) {
    const auto place = reinterpret_cast<uintptr_t>(blocks[i]);
    auto* const words = static_cast<volatile uintptr_t*>(blocks[i]);
    for (const size_t word : {0, 1}) words[word] = place >> 12 ^ uintptr_t { 0x5c0 };
  }
  // So many, and 48 MB of them, as macOS keeps a list for each processor, of which this thread may
  // have come to another.
  constexpr int kBlocks = 1'000'000;
  for (int i = 0; i < kBlocks; ++i) sink = take_block() != nullptr;
}

MPSPROBE_NO_SANITIZE void null_dereference() {
  // An offset like that of a member: the address that Metal's own null dereferences show.
  volatile uintptr_t address = 0x5c8;
  sink = *reinterpret_cast<volatile int*>(address);  // NOLINT(performance-no-int-to-ptr)
}

MPSPROBE_NO_SANITIZE void bus_error() {
  std::FILE* file = std::tmpfile();
  if (file == nullptr) throw std::runtime_error("no temporary file for the bus error");
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  auto* memory =
      static_cast<volatile char*>(mmap(nullptr, page, PROT_READ, MAP_SHARED, fileno(file), 0));
  sink = static_cast<unsigned char>(memory[0]);
}

void trap() {
#if defined(__x86_64__) || defined(__i386__)
  asm volatile("int3");
#else
  asm volatile("brk #0");
#endif
}

void illegal_instruction() {
#if defined(__x86_64__) || defined(__i386__)
  asm volatile("ud2");
#else
  asm volatile(".inst 0x00000000");
#endif
}

MPSPROBE_NO_SANITIZE void division() {
#if defined(__x86_64__) || defined(__i386__)
  volatile int zero = 0;
  sink = 7 / zero;  // 1 / x would be compiled into a comparison
#else
  raise(SIGFPE);
#endif
}

void stack_overflow() {
  sink = recurse(0);
}

void wild_free() {
  // Not twice the same block: an allocator may have given it to somebody else by then.
  alignas(64) static std::array<char, 4096> no_block{};
  void* volatile inside = no_block.data() + 1024;
  std::free(inside);
}

void abort_silently() {
  std::abort();
}

void killed_from_outside() {
  const pid_t victim = getpid();
  const pid_t killer = fork();
  if (killer == 0) {
    kill(victim, SIGKILL);
    _exit(0);
  }
  wait_forever();
}

void memory_hog() {
  constexpr size_t kBytes = size_t{128} << 20;
  auto* block = static_cast<volatile char*>(std::malloc(kBytes));
  if (block == nullptr) throw std::bad_alloc();
  for (size_t i = 0; i < kBytes; i += 4096) block[i] = 1;
}

void uncaught_in_thread() {
  std::thread([] { throw std::runtime_error("planted exception in a thread"); }).join();
}

void throws() {
  throw std::runtime_error("planted exception");
}

namespace {

constexpr std::array kFaults{
    Misbehaviour{"null_dereference", "reads at a small address", null_dereference},
    Misbehaviour{"nested_crash", "the same, three calls deep", nested_crash},
    Misbehaviour{"null_call", "calls a function at address 0", null_call},
    Misbehaviour{"wild_call", "calls an address where nothing is", wild_call},
    Misbehaviour{"heap_call", "calls a block of the heap", heap_call},
    Misbehaviour{"bus_error", "reads a mapped file beyond its end", bus_error},
    Misbehaviour{"trap", "breakpoint instruction", trap},
    Misbehaviour{"illegal_instruction", "an instruction that is none", illegal_instruction},
    Misbehaviour{"division", "integer division by zero", division},
    Misbehaviour{"stack_overflow", "recursion without end", stack_overflow},
    Misbehaviour{"wild_free", "frees what malloc never gave", wild_free},
    Misbehaviour{"heap_crash", "crashes inside malloc, of a heap that was overwritten before",
                 heap_crash},
    Misbehaviour{"abort", "abort() without a word", abort_silently},
    Misbehaviour{"exception", "throws out of the operation", throws},
    Misbehaviour{"exception_in_thread", "an exception that nobody catches, in a thread",
                 uncaught_in_thread},
    Misbehaviour{"exception_on_main", "throws on the main thread, touching the device", throws,
                 Stage::touch},
    Misbehaviour{"exit_zero", "leaves halfway with 0, without a result", [] { std::_Exit(0); }},
    Misbehaviour{"exit_eleven", "leaves halfway with 11, which is not SIGSEGV",
                 [] { std::_Exit(11); }},
    Misbehaviour{"killed", "SIGKILL from another process", killed_from_outside},
    Misbehaviour{"wrong_numbers", "computes a wrong result", nullptr, Stage::check},
    Misbehaviour{"memory", "takes 128 MiB more with each launch", memory_hog, Stage::every_launch},
    Misbehaviour{"crash_early", "crashes before the device is up", null_dereference, Stage::make},
    Misbehaviour{"crash_teardown", "crashes in tear-down, after its result", null_dereference,
                 Stage::teardown},
};

}  // namespace

std::span<const Misbehaviour> faulting() {
  return kFaults;
}

}  // namespace mpsprobe::faults
