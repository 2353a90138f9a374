#include "scenarios/selftest/faults.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <stdexcept>
#include <thread>

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

void double_free() {
  void* volatile block = std::malloc(24);
  std::free(block);
  std::free(block);
}

void abort_silently() {
  std::abort();
}
void exit_zero() {
  std::_Exit(0);
}
void exit_eleven() {
  std::_Exit(11);
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

void deadlock() {
  static std::mutex mutex;
  mutex.lock();
  std::thread([] { mutex.lock(); }).join();
}

void busy_loop() {
  for (;;) sink = sink + 1;
}

void stopped() {
  raise(SIGSTOP);
}

void ignores_sigterm() {
  signal(SIGTERM, SIG_IGN);
  deadlock();
}

void memory_hog() {
  constexpr size_t kStep = 16 * 1024 * 1024;
  for (;;) {
    auto* block = static_cast<volatile char*>(std::malloc(kStep));
    if (block == nullptr) throw std::bad_alloc();
    for (size_t i = 0; i < kStep; i += 4096) block[i] = 1;
  }
}

void uncaught_in_thread() {
  std::thread([] { throw std::runtime_error("planted exception in a thread"); }).join();
}

void throws() {
  throw std::runtime_error("planted exception");
}

}  // namespace mpsprobe::faults
