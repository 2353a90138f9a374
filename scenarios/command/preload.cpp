// What is loaded into somebody's own command and, on Linux, into the processes that it starts: the
// crash handler, and the inquest of a hang. It starts no thread on Linux, keeps what the program
// asks of signals, and does nothing where the variables of command_worker.cpp are missing.
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "harness/wire/flight_recorder.h"
#include "harness/wire/shared_memory.h"
#include "scenarios/command/channels.h"
#include "scenarios/evidence/crash_handler.h"
#include "scenarios/evidence/images.h"
#include "scenarios/evidence/inquest.h"
#include "scenarios/evidence/stack_capture.h"
#include "scenarios/evidence/thread_identity.h"
#ifdef __APPLE__
#include <crt_externs.h>

#include "scenarios/worker/leash.h"
#endif

namespace mpsprobe {
namespace {

pid_t owner = 0;                     // the process of the trial
FlightRecorder* recorder = nullptr;  // of it
char crashes[1024] = "";             // the folder for those of other processes
char own_name[recorder_layout::kOperationBytes] = "";

using Sigaction = int (*)(int, const struct sigaction*, struct sigaction*);

/// The next one's: the C library's, or that of a sanitizer.
Sigaction system_sigaction() {
#ifdef __APPLE__
  return ::sigaction;  // what is interposed is not so for the library that does it
#else
  static Sigaction next = nullptr;
  if (next == nullptr) next = reinterpret_cast<Sigaction>(dlsym(RTLD_NEXT, "sigaction"));
  return next;
#endif
}

int set_action(int signal, const struct sigaction* action, struct sigaction* old) {
  if (take_action(signal, action, old)) return 0;
  return system_sigaction()(signal, action, old);
}

/// A recorder for a process that the command started, on disk from its first crash on. Called in
/// the crash handler.
recorder_layout::Block* recorder_of_child() {
  char path[sizeof(crashes) + 16];
  char digits[16];
  size_t length = 0;
  for (pid_t rest = getpid(); rest > 0; rest /= 10)
    digits[length++] = static_cast<char>('0' + rest % 10);
  size_t at = std::strlen(crashes);
  if (at == 0) return nullptr;
  std::memcpy(path, crashes, at);
  path[at++] = '/';
  while (length > 0) path[at++] = digits[--length];
  path[at] = '\0';
  mkdir(crashes, 0700);  // by the first
  const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return nullptr;
  constexpr size_t kBytes = sizeof(recorder_layout::Block);
  void* const memory = ftruncate(file, kBytes) != 0
                           ? MAP_FAILED
                           : mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) return nullptr;
  auto* const block = static_cast<recorder_layout::Block*>(memory);
  FlightRecorder::initialise(block);
  FlightRecorder child(block);
  child.set_phase(Phase::run);
  child.begin_thread(recorder_layout::kMainThread, own_name);
  return block;
}

recorder_layout::Block* find_recorder_here() {
  return recorder != nullptr && getpid() == owner ? recorder->block() : recorder_of_child();
}

#ifdef __linux__

void hold_inquest(int, siginfo_t*, void* context) {
  const int saved_errno = errno;
  if (getpid() != owner) return;
  recorder_layout::Block& block = *recorder->block();
  const auto at = [&block](Inquest stage) {
    block.inquest.store(static_cast<uint32_t>(stage), std::memory_order_release);
  };
  at(Inquest::stacks);
  capture_stacks_in_handler(*recorder, context);
  note_images_of_stacks(block);
  at(Inquest::probe);
  // A handler that is not the system's says more: that of Python writes where each thread is, and
  // ends the process, which was to be ended. Ours would note a crash.
  if (give_back_action(SIGABRT)) raise(SIGABRT);
  at(Inquest::done);
  errno = saved_errno;
}

void offer_inquest(int) {
  prepare_stack_capture(*recorder);
  struct sigaction action {};
  action.sa_sigaction = hold_inquest;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  system_sigaction()(inquest_signal(), &action, nullptr);
  recorder->block()->inquest.store(static_cast<uint32_t>(Inquest::offered),
                                   std::memory_order_release);
}

void name_process() {
  const int file = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
  const ssize_t got = file < 0 ? 0 : read(file, own_name, sizeof(own_name) - 1);
  if (file >= 0) close(file);
  if (got > 0 && own_name[got - 1] == '\n') own_name[got - 1] = '\0';
}

#else

void offer_inquest(int gate) {
  prepare_stack_capture(*recorder);
  auto* const inquest = new HangInquest(*recorder);
  new Leash(gate, [inquest] { inquest->hold(); });
}

void name_process() {
  std::snprintf(own_name, sizeof(own_name), "%s", getprogname());
}

#endif

/// The process of the trial, also after it has executed another program in its place.
void attach(int memory_fd, int gate) {
  // A copy: the descriptor stays for a program that is executed in this one's place.
  const int copy = fcntl(memory_fd, F_DUPFD_CLOEXEC, memory_fd + 1);
  if (copy < 0) return;
  auto* const memory = new SharedMemory(SharedMemory::attach(copy, sizeof(recorder_layout::Block)));
  auto* const block = static_cast<recorder_layout::Block*>(memory->data());
  if (block->magic != recorder_layout::kMagic || block->bytes != sizeof(*block)) return;
  block->image_count.store(0);  // they were those of the program before
  recorder = new FlightRecorder(block);
  owner = getpid();
  install_crash_handler(find_recorder_here);
  new CrashContext(recorder_layout::kMainThread);
  note_images(*recorder);
  offer_inquest(gate);
}

__attribute__((constructor)) void begin() {
  const char* const channels = std::getenv(kChannelsVariable);
  const char* const folder = std::getenv(kCrashesVariable);
  if (channels == nullptr) return;
  name_process();
  std::snprintf(crashes, sizeof(crashes), "%s", folder == nullptr ? "" : folder);
  int pid = 0;
  int memory = -1;
  int gate = -1;
  const bool whole = std::sscanf(channels, "%d %d %d", &pid, &memory, &gate) == 3;
  try {
    if (whole && pid == getpid()) return attach(memory, gate);
  } catch (const std::system_error&) {  // the program before has closed it: there is none
  }
  remember_images();
  install_crash_handler(find_recorder_here);
}

}  // namespace
}  // namespace mpsprobe

#ifdef __APPLE__

namespace {

void (*signal_in_front(int number, void (*handler)(int)))(int) {
  struct sigaction action {};
  struct sigaction old {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  return mpsprobe::set_action(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

struct Interposed {
  const void* ours;
  const void* theirs;
};
__attribute__((used, section("__DATA,__interpose"))) const Interposed interposed[] = {
    {reinterpret_cast<const void*>(mpsprobe::set_action), reinterpret_cast<const void*>(sigaction)},
    {reinterpret_cast<const void*>(signal_in_front), reinterpret_cast<const void*>(signal)},
};

}  // namespace

#else

extern "C" {

__attribute__((visibility("default"))) int sigaction(int number, const struct sigaction* action,
                                                     struct sigaction* old) noexcept {
  return mpsprobe::set_action(number, action, old);
}

__attribute__((visibility("default"))) sighandler_t signal(int number,
                                                           sighandler_t handler) noexcept {
  struct sigaction action {};
  struct sigaction old {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  return sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

}  // extern "C"

#endif
