#include "harness/outcome/remarks.h"

#include <fmt/format.h>
#include <signal.h>

#include "harness/outcome/crash_title.h"

namespace mpsprobe {
namespace {

std::optional<int> death_signal(const ProcessRecord& process) {
  if (const auto* signaled = std::get_if<Signaled>(&process.termination)) return signaled->signal;
  return std::nullopt;
}

void add_crash(std::vector<std::string>& said, const ProcessRecord& process, int signal) {
  if (signal == SIGSEGV || signal == SIGBUS) {
    if (const std::optional<uint64_t> address = fault_address(process)) {
      said.push_back(*address < kNearNull
                         ? fmt::format("bad address null + {:#x}", *address)
                         : fmt::format("bad address {:#x}, not near null", *address));
    }
  }
  const StackTitle title = stack_title(process);
  if (title.kind == StackTitle::Kind::heap) {
    said.push_back(title.function.empty()
                       ? "the heap was damaged earlier, by code that is not on the stack"
                       : fmt::format("the heap was damaged earlier, by code that is not on the "
                                     "stack; found when {} called malloc",
                                     title.function));
  }
}

void add_hang(std::vector<std::string>& said, const ProcessRecord& process) {
  switch (process.recorder.probe) {
    case Probe::completed:
      said.emplace_back("the device completed a trivial piece of work meanwhile: the host hangs");
      break;
    case Probe::not_answered:
      said.emplace_back("the device did not complete a trivial piece of work either");
      break;
    case Probe::failed:
      said.emplace_back("a trivial piece of work failed on the device");
      break;
    case Probe::not_tried:
    case Probe::impossible:
      break;
  }
  if (const size_t threads = process.stacks.lock_cycle.size(); threads > 0) {
    said.push_back(fmt::format("{} threads wait for one another's locks in a circle", threads));
  }
}

}  // namespace

std::vector<std::string> remarks(const ProcessRecord& process) {
  std::vector<std::string> said;
  const bool hung =
      process.ended_by == EndedBy::deadline || process.ended_by == EndedBy::no_progress;
  const int crash = process.recorder.intact ? process.recorder.crash.signal : 0;
  if (crash != 0) {
    add_crash(said, process, crash);
  } else if (hung) {
    add_hang(said, process);
  } else if (const std::optional<int> signal = death_signal(process)) {
    add_crash(said, process, *signal);
  }
  if (const size_t events = process.gpu_events.size(); events > 0) {
    said.push_back(fmt::format("the system reported {} of the GPU around its time",
                               events == 1 ? "an event" : fmt::format("{} events", events)));
  }
  return said;
}

}  // namespace mpsprobe
