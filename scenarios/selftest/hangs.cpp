#include <signal.h>
#include <time.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "scenarios/selftest/misbehaviour.h"

namespace mpsprobe::faults {
namespace {

volatile unsigned turns = 0;

}  // namespace

void deadlock() {
  static std::mutex mutex;
  mutex.lock();
  std::thread([] { mutex.lock(); }).join();
}

void lock_cycle(int thread, int threads) {
  static std::array<std::mutex, 256> locks;
  static std::atomic<int> holding{0};
  locks[static_cast<size_t>(thread)].lock();
  holding.fetch_add(1);
  while (holding.load() < threads) std::this_thread::yield();
  locks[static_cast<size_t>((thread + 1) % threads)].lock();
}

void lock_orphaned() {
  static std::mutex mutex;
  std::thread([] { mutex.lock(); }).join();
  mutex.lock();
}

void busy_loop() {
  for (;;) turns = turns + 1;
}

void stopped() {
  raise(SIGSTOP);
}

void ignores_sigterm() {
  signal(SIGTERM, SIG_IGN);
  deadlock();
}

void abort_when_interrupted() {
  timespec left{3600, 0};
  while (nanosleep(&left, &left) != 0) {
    if (errno == EINTR) std::abort();
  }
}

#if defined(__linux__) && defined(__x86_64__)

namespace {

// A loop whose stack is not as its unwind table says: where the return address should be lies
// something else.
extern "C" void mpsprobe_misleading_frame();
asm(R"(
  .text
  .type mpsprobe_misleading_frame, @function
mpsprobe_misleading_frame:
  .cfi_startproc
  subq $64, %rsp
  movq $0xdead000, (%rsp)
1:
  pause
  jmp 1b
  .cfi_endproc
  .size mpsprobe_misleading_frame, . - mpsprobe_misleading_frame
)");

}  // namespace

void misleading_frame() {
  mpsprobe_misleading_frame();
}

#else

void misleading_frame() {
  busy_loop();
}

#endif

namespace {

constexpr std::array kHangs{
    Misbehaviour{"deadlock", "waits for a lock that nobody releases", deadlock},
    Misbehaviour{"lock_cycle", "each thread waits for the lock of the next", nullptr, Stage::launch,
                 lock_cycle},
    Misbehaviour{"lock_orphaned", "waits for a lock whose owner has ended", lock_orphaned},
    Misbehaviour{"busy_loop", "spins without progress", busy_loop},
    Misbehaviour{"misleading_frame", "spins where no stack can be taken", misleading_frame},
    Misbehaviour{"abort_when_interrupted", "sleeps, and aborts on a signal",
                 abort_when_interrupted},
    Misbehaviour{"hang_early", "waits for ever in the first contact", deadlock, Stage::touch},
    Misbehaviour{"stopped", "stopped by SIGSTOP", stopped},
    Misbehaviour{"ignores_sigterm", "hangs and ignores SIGTERM", ignores_sigterm},
    Misbehaviour{"hang_teardown", "waits for ever in tear-down, after its result", deadlock,
                 Stage::teardown},
};

}  // namespace

std::span<const Misbehaviour> hanging() {
  return kHangs;
}

}  // namespace mpsprobe::faults
