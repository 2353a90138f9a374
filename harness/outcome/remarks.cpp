#include "harness/outcome/remarks.h"

#include <fmt/format.h>
#include <signal.h>

#include "harness/outcome/crash_title.h"
#include "harness/outcome/hang_title.h"
#include "harness/outcome/python_death.h"

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
    const std::string caller =
        title.function.empty() ? "" : fmt::format(" when {} called it", title.function);
    said.push_back(
        fmt::format("died inside malloc or free{}: the heap was damaged before, perhaps by code "
                    "that is not on the stack, or the pointer given was a bad one",
                    caller));
  }
}

void add_probe(std::vector<std::string>& said, Probe probe) {
  switch (probe) {
    case Probe::completed:
      said.emplace_back(
          "a trivial piece of work given to the device completed: the host hangs, not the device");
      break;
    case Probe::not_answered:
      said.emplace_back(
          "a trivial piece of work given to the device did not end in time: the device, or the way "
          "to it, hangs too");
      break;
    case Probe::failed:
      said.emplace_back(
          "a trivial piece of work given to the device failed: the device, or the way to it, is "
          "not well");
      break;
    case Probe::impossible:
      said.emplace_back(
          "whether the host or the device hangs is not known: this backend has no way to try the "
          "device around what hangs");
      break;
    case Probe::not_tried:
      break;
  }
}

}  // namespace

std::vector<std::string> remarks(const ProcessRecord& process) {
  std::vector<std::string> said;
  const bool hung =
      process.ended_by == EndedBy::deadline || process.ended_by == EndedBy::no_progress;
  const int crash =
      process.recorder.intact && !process.crashed_in_inquest ? process.recorder.crash.signal : 0;
  if (crash != 0) {
    add_crash(said, process, crash);
  } else if (hung) {
    if (!still_computed(process)) add_probe(said, process.recorder.probe);
    if (!process.children.empty()) said.push_back("it had children: " + process.children);
  } else if (const std::optional<int> signal = death_signal(process)) {
    add_crash(said, process, *signal);
  }
  if (python_collected_garbage(process.err.text())) {
    said.emplace_back("the thread that died was collecting Python's garbage");
  }
  return said;
}

}  // namespace mpsprobe
