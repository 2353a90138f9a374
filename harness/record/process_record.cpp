#include "harness/record/process_record.h"

#include <signal.h>
#include <sys/wait.h>

#include <utility>

namespace mpsprobe {
bool is_failure(Outcome outcome) {
  return outcome > Outcome::pass && outcome < Outcome::refused;
}
bool is_evidence(Outcome outcome) {
  return outcome < Outcome::refused;
}

Termination termination_from_status(int status) {
  if (WIFSIGNALED(status)) return Signaled{WTERMSIG(status), WCOREDUMP(status) != 0};
  return Exited{WEXITSTATUS(status)};
}

std::string Capture::text() const {
  return text("[" + std::to_string(dropped()) + " bytes left out]");
}

std::string Capture::text(std::string_view mark) const {
  if (dropped() == 0) return head + tail;
  std::string text = head + "\n" + std::string(mark) + "\n";
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
