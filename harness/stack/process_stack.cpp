#include "harness/stack/process_stack.h"

#ifdef __linux__
#include <elfutils/libdwfl.h>
#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "harness/wire/hex.h"

namespace mpsprobe {
namespace {

constexpr int kMostTries = 100;
constexpr int kTryMicroseconds = 1000;

/// A thread that does not run as long as this lives.
class StoppedThread {
 public:
  explicit StoppedThread(pid_t thread) : thread_(thread) {
    if (ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) != 0) {
      error_ = errno;
      return;
    }
    ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr);
    for (int i = 0; i < kMostTries && !stopped_; ++i) {
      int status = 0;
      stopped_ = waitpid(thread, &status, __WALL | WNOHANG) == thread && WIFSTOPPED(status);
      if (!stopped_) usleep(kTryMicroseconds);
    }
  }
  StoppedThread(const StoppedThread&) = delete;
  StoppedThread& operator=(const StoppedThread&) = delete;
  ~StoppedThread() {
    if (error_ == 0) ptrace(PTRACE_DETACH, thread_, nullptr, nullptr);
  }

  bool stopped() const { return stopped_; }
  int error() const { return error_; }

 private:
  pid_t thread_;
  bool stopped_ = false;
  int error_ = 0;
};

/// libdwfl would look for debug information in many places, and ask servers.
int no_debug_file(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*,
                  GElf_Word, char**) {
  return -1;
}

struct ProgramCounters {
  std::array<Dwarf_Addr, recorder_layout::kFrames> at;
  size_t count = 0;
};

int take(Dwfl_Frame* frame, void* data) {
  auto* counters = static_cast<ProgramCounters*>(data);
  Dwarf_Addr at = 0;
  if (counters->count == counters->at.size() || !dwfl_frame_pc(frame, &at, nullptr)) {
    return DWARF_CB_ABORT;
  }
  counters->at[counters->count++] = at;
  return DWARF_CB_OK;
}

FrameAddress address_of(Dwfl* process, Dwarf_Addr at) {
  Dwfl_Module* module = dwfl_addrmodule(process, at);
  GElf_Addr bias = 0;
  if (module == nullptr || dwfl_module_getelf(module, &bias) == nullptr) return {"", "", at};
  const char* path = nullptr;
  dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, &path, nullptr);
  const unsigned char* id = nullptr;
  GElf_Addr id_at = 0;
  const int bytes = dwfl_module_build_id(module, &id, &id_at);
  return {path == nullptr ? "" : path,
          bytes > 0 ? hex({id, static_cast<size_t>(bytes)}) : std::string(), at - bias};
}

using Images = std::unique_ptr<Dwfl, void (*)(Dwfl*)>;

/// What the process has loaded; null where the system does not tell.
Images images_of(pid_t pid) {
  static const Dwfl_Callbacks kCallbacks{dwfl_linux_proc_find_elf, no_debug_file, nullptr, nullptr};
  Images images(dwfl_begin(&kCallbacks), dwfl_end);
  const bool told = images != nullptr && dwfl_linux_proc_report(images.get(), pid) == 0 &&
                    dwfl_report_end(images.get(), nullptr, nullptr) == 0;
  return told ? std::move(images) : Images(nullptr, dwfl_end);
}

}  // namespace

FrameAddress address_in(pid_t pid, uint64_t address) {
  const Images images = images_of(pid);
  return images == nullptr ? FrameAddress{"", "", address} : address_of(images.get(), address);
}

ProcessStack process_stack(pid_t pid, pid_t thread) {
  const StoppedThread held(thread);
  if (held.error() == EPERM) {
    return {{}, fmt::format(" (its stack cannot be read: ptrace: {})", std::strerror(EPERM))};
  }
  if (!held.stopped()) return {};
  const Images process = images_of(pid);
  if (process == nullptr || dwfl_linux_proc_attach(process.get(), pid, true) != 0) return {};
  ProgramCounters counters;
  dwfl_getthread_frames(process.get(), thread, take, &counters);
  ProcessStack stack;
  for (size_t i = 0; i < counters.count; ++i) {
    stack.frames.push_back(address_of(process.get(), counters.at[i]));
  }
  return stack;
}

}  // namespace mpsprobe
#else
namespace mpsprobe {

FrameAddress address_in(pid_t, uint64_t address) {
  return {"", "", address};
}

ProcessStack process_stack(pid_t, pid_t) {
  return {};
}

}  // namespace mpsprobe
#endif
