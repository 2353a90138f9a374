#include "harness/record/process_record.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <utility>

namespace mpsprobe {
namespace {

constexpr std::array<std::string_view, 16> kOutcomes{
    "pass",         "wrong_result", "exception",      "assertion", "signal", "hang",
    "exit",         "missing",      "out_of_memory",  "gpu_error", "misuse", "refused",
    "setup_failed", "unsupported",  "infrastructure", "not_run"};

constexpr std::array<std::string_view, 6> kEndedBy{"nobody",       "deadline", "no_progress",
                                                   "memory_limit", "user",     "cancelled"};

constexpr std::array<std::string_view, 4> kBases{"none", "text", "frames", "place"};

template <typename Enum, size_t N>
std::optional<Enum> find(const std::array<std::string_view, N>& names, std::string_view name) {
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) return std::nullopt;
  return static_cast<Enum>(at - names.begin());
}

}  // namespace

std::string_view name_of(Outcome outcome) {
  return kOutcomes[static_cast<size_t>(outcome)];
}
std::optional<Outcome> outcome_named(std::string_view name) {
  return find<Outcome>(kOutcomes, name);
}
std::span<const std::string_view> outcome_names() {
  return kOutcomes;
}

bool is_failure(Outcome outcome) {
  return outcome > Outcome::pass && outcome < Outcome::refused;
}
bool is_evidence(Outcome outcome) {
  return outcome < Outcome::refused;
}

std::string_view name_of(EndedBy ended_by) {
  return kEndedBy[static_cast<size_t>(ended_by)];
}
std::optional<EndedBy> ended_by_named(std::string_view name) {
  return find<EndedBy>(kEndedBy, name);
}

std::string_view name_of(Basis basis) {
  return kBases[static_cast<size_t>(basis)];
}
std::optional<Basis> basis_named(std::string_view name) {
  return find<Basis>(kBases, name);
}

Termination termination_from_status(int status) {
  if (WIFSIGNALED(status)) return Signaled{WTERMSIG(status), WCOREDUMP(status) != 0};
  return Exited{WEXITSTATUS(status)};
}

std::string Capture::text() const {
  if (dropped() == 0) return head + tail;
  std::string text = head + "\n[" + std::to_string(dropped()) + " bytes left out]\n";
  for (const std::string& line : noticed) text += line + "\n";
  return text + tail;
}

std::string signal_name(int signal) {
  // By name, not by number: SIGBUS is 7 on Linux and 10 on macOS.
  static constexpr std::pair<int, const char*> kNames[] = {
      {SIGHUP, "SIGHUP"},       {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},
      {SIGTRAP, "SIGTRAP"},     {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
      {SIGKILL, "SIGKILL"},     {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"},
      {SIGPIPE, "SIGPIPE"},     {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"}, {SIGCHLD, "SIGCHLD"},
      {SIGCONT, "SIGCONT"},     {SIGSTOP, "SIGSTOP"}, {SIGTSTP, "SIGTSTP"}, {SIGTTIN, "SIGTTIN"},
      {SIGTTOU, "SIGTTOU"},     {SIGURG, "SIGURG"},   {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"},
      {SIGVTALRM, "SIGVTALRM"}, {SIGPROF, "SIGPROF"}, {SIGSYS, "SIGSYS"},   {SIGIO, "SIGIO"},
  };
  for (const auto& [number, name] : kNames) {
    if (number == signal) return name;
  }
  return "signal " + std::to_string(signal);
}

}  // namespace mpsprobe
