#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <thread>

#include "harness/campaign/trial_seed.h"
#include "harness/executor/environment.h"
#include "harness/folder/descriptor.h"
#include "harness/folder/folder.h"
#include "harness/input/input_error.h"
#include "harness/platform/processor_use.h"
#include "harness/process/spawn.h"
#include "harness/provenance/executable.h"
#include "harness/wire/event.h"
#include "harness/wire/flight_recorder.h"
#include "reports/words/safe_text.h"
#include "tools/runner/command.h"
#include "tools/runner/exit_code.h"
#include "tools/runner/machine_error.h"
#include "tools/runner/option_check.h"
#include "tools/runner/repro/repro_command.h"
#include "tools/runner/repro/repro_source.h"
#include "tools/runner/say.h"
#include "tools/runner/trial_options.h"
#include "tools/runner/workers/workers.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

/// What `mpsprobe debug` was asked for.
struct DebugOptions {
  ReproOptions source;  ///< what, --signature, --worker, --env, --seed, --trust-run: as of `repro`
  std::optional<std::string> debugger;  ///< gdb or lldb; the first that is in PATH
  std::optional<fs::path> recording;  ///< where rr writes it; a debugger looks at a process itself
  int attempts = 1000;                ///< after which it is given up
  double interrupt = 30;              ///< seconds after which one that still runs is stopped
};

/// How a debugger runs the program behind its arguments: it leaves where that ended by itself, and
/// stays where it stopped. %STOPPED% is a file that is then there.
struct Debugger {
  const char* name;
  std::vector<const char*> arguments;
};

// To be run after the program, by Python in lldb.
constexpr const char* kLeaveWhereItEnded =
    "script import os, lldb; p = lldb.debugger.GetSelectedTarget().GetProcess(); "
    "open('%STOPPED%', 'w') if p.GetState() == lldb.eStateStopped else os._exit(0)";

const std::array kDebuggers{
    Debugger{"gdb",
             {"-q", "-iex", "set pagination off", "-iex", "set confirm off", "-ex", "run", "-ex",
              "python gdb.selected_thread() and open('%STOPPED%', 'w')", "-ex",
              "python gdb.execute('backtrace 20' if gdb.selected_thread() else 'quit')", "--args"}},
    Debugger{"lldb",
             {"-o", "settings set target.process.stop-on-exec false", "-o", "run", "-o",
              kLeaveWhereItEnded, "-o", "bt", "--"}},
};

/// The debugger's path and its arguments. Throws InputError where there is none.
std::vector<std::string> debugger_for(const std::optional<std::string>& wanted,
                                      const std::string& stopped) {
  constexpr std::string_view kStopped = "%STOPPED%";
  for (const Debugger& each : kDebuggers) {
    const std::string path = program_in_path(each.name).string();
    if (path.empty() || (wanted && *wanted != each.name)) continue;
    std::vector<std::string> words{path};
    for (std::string argument : each.arguments) {
      const size_t at = argument.find(kStopped);
      if (at != std::string::npos) argument.replace(at, kStopped.size(), stopped);
      words.push_back(std::move(argument));
    }
    return words;
  }
  throw InputError("debug",
                   wanted ? *wanted + " is not in PATH" : "neither gdb nor lldb is in PATH",
                   "Install one of the two");
}

/// Whether a debugger has stopped the process: its user looks at it.
bool is_stopped(pid_t pid) {
  std::ifstream stat(fmt::format("/proc/{}/stat", pid));
  std::string text;
  std::getline(stat, text);
  const size_t end = text.rfind(')');
  return end == std::string::npos || end + 2 >= text.size() || text[end + 2] == 't';
}

/// A folder with the channels of one trial, as files: debuggers pass no descriptors on, so that a
/// shell opens them. Taken away with its files.
class Channels {
 public:
  Channels() : folder_(fs::temp_directory_path() / "mpsprobe-debug-XXXXXX") {
    std::string name = folder_.string();
    if (mkdtemp(name.data()) == nullptr)
      throw MachineError("debug: no folder can be made in " + folder_.parent_path().string());
    folder_ = name;
    if (mkfifo(path("gate").c_str(), 0600) != 0) throw MachineError("debug: no pipe can be made");
    gate_ = Descriptor(open(path("gate").c_str(), O_RDWR | O_CLOEXEC));
  }
  Channels(const Channels&) = delete;
  Channels& operator=(const Channels&) = delete;
  ~Channels() {
    std::error_code error;  // what stays there is in a folder of temporary files
    fs::remove_all(folder_, error);
  }

  /// For another process: an empty recorder, and a gate that is open.
  void renew() {
    const auto block = std::make_unique<recorder_layout::Block>();
    FlightRecorder::initialise(block.get());
    const Folder folder(folder_);
    NewFile recorder(folder, "recorder");
    const std::string_view bytes(reinterpret_cast<const char*>(block.get()), sizeof(*block));
    const bool written = recorder.is_open() && recorder.write(bytes) && recorder.replace();
    char left = 0;
    fcntl(gate_.get(), F_SETFL, O_NONBLOCK);
    while (read(gate_.get(), &left, 1) > 0) {
    }
    if (!written || write(gate_.get(), &kStartByte, 1) != 1)
      throw MachineError("debug: " + folder_.string() + " cannot be written");
  }

  /// The words that run `words` with the channels.
  std::vector<std::string> around(const std::vector<std::string>& words) const {
    std::vector<std::string> all{
        "/bin/sh", "-c",
        fmt::format("exec {}<>{} {}>/dev/null {}<>{}; exec \"$@\"", kRecorderFd, path("recorder"),
                    kEventsFd, kGateFd, path("gate")),
        "sh"};
    all.insert(all.end(), words.begin(), words.end());
    return all;
  }

  std::string path(const char* name) const { return (folder_ / name).string(); }

 private:
  fs::path folder_;
  Descriptor gate_;
};

/// Stops what a debugger runs, so that one that hangs shows where. On a Mac the user does it, by
/// Ctrl-C. What the debugger itself has stopped, as while it reads symbols, is looked at again.
/// Whether there was something to stop.
bool interrupt_program(pid_t debugger) {
  for (const Descendant& process : descendants_of(debugger)) {
    if (is_stopped(process.pid)) continue;
    kill(process.pid, SIGINT);
    return true;
  }
  return false;
}

/// Ends what rr records, and keeps what it has recorded.
bool end_recording(pid_t rr) {
  kill(rr, SIGTERM);
  return true;
}

/// What becomes of a process that runs for too long.
struct Late {
  double seconds;       ///< after which it is
  bool (*stop)(pid_t);  ///< called with what runs on the terminal, until it says that it did
  fs::path at_prompt;   ///< there once the user looks, and then nothing is late
};

void stop_when_late(pid_t program, const Late& late, const std::atomic<bool>& ended) {
  const auto begin = std::chrono::steady_clock::now();
  std::error_code error;  // what cannot be looked at is not there yet
  while (!ended && !fs::exists(late.at_prompt, error)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const std::chrono::duration<double> runs = std::chrono::steady_clock::now() - begin;
    if (runs.count() >= late.seconds && late.stop(program)) return;
  }
}

/// Runs a program on the terminal of this process, whose Ctrl-C is that program's. Returns its
/// status, as of waitpid.
int run_on_terminal(const std::vector<std::string>& words,
                    const std::vector<std::string>& environment, const std::optional<Late>& late) {
  const std::vector<char*> arguments = exec_pointers(words);
  const std::vector<char*> variables = exec_pointers(environment);
  const pid_t program = fork();
  if (program < 0) throw MachineError("debug: the system refuses another process");
  if (program == 0) {
    signal(SIGINT, SIG_DFL);
    execve(arguments[0], arguments.data(), variables.data());
    _exit(127);
  }
  std::atomic<bool> ended{false};
  std::thread watch;
  if (late) watch = std::thread([&] { stop_when_late(program, *late, ended); });
  int status = 0;
  while (waitpid(program, &status, 0) < 0 && errno == EINTR) {
  }
  ended = true;
  if (watch.joinable()) watch.join();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
    throw MachineError(fmt::format("debug: {} cannot be executed", words.front()));
  return status;
}

std::vector<std::string> joined(std::vector<std::string> words,
                                const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// How one process is looked at. Whether it failed, and the user saw it.
using Look = std::function<bool(const std::vector<std::string>& program,
                                const std::vector<std::string>& environment)>;

/// Under a debugger, which stays where the program stopped.
Look in_debugger(const DebugOptions& options, const Channels& channels) {
  const fs::path stopped = channels.path("stopped");
  const Late late{options.interrupt, interrupt_program, stopped};
  return [words = debugger_for(options.debugger, stopped), late](const auto& program,
                                                                 const auto& environment) {
    run_on_terminal(joined(words, program), environment, late);
    std::error_code error;
    return fs::exists(late.at_prompt, error);
  };
}

/// Recorded by rr, whose chaos mode lets threads run in odd orders; replayed in gdb to where it
/// failed. https://rr-project.org, `rr help record` and `rr help replay`
Look in_recording(const fs::path& recording, const DebugOptions& options,
                  const Channels& channels) {
  const std::string rr = program_in_path("rr").string();
  if (rr.empty()) throw InputError("debug", "rr is not in PATH", "Install it, or leave out --rr");
  if (fs::exists(recording))
    throw InputError("--rr", recording.string() + " is there already", "Name a new folder");
  const Late late{options.interrupt, end_recording, channels.path("stopped")};
  return [rr, recording, late](const auto& program, const auto& environment) {
    const int status = run_on_terminal(
        joined({rr, "record", "--chaos", "-o", recording.string()}, program), environment, late);
    if (!fs::exists(recording / "version"))
      throw MachineError("debug: rr has recorded nothing. What it says about it stands above");
    if (!WIFSIGNALED(status)) {
      fs::remove_all(recording);
      return false;
    }
    say(stderr, "Again: rr replay -e {}\n", printable(recording.string()));
    // At its end: there gdb knows the program that failed, whatever was executed on the way to it.
    run_on_terminal({rr, "replay", "-e", recording.string(), "--", "-q", "-iex",
                     "set pagination off", "-iex", "set confirm off"},
                    environment, std::nullopt);
    return true;
  };
}

void add_debug_options(CLI::App& app, DebugOptions& options) {
  app.add_option("what", options.source.what,
                 "a run, its folder or report.json, or a failing cell by its text")
      ->required()
      ->type_name("RUN|CELL");
  app.add_option("--signature", options.source.signature,
                 "of a run the failure: its title, or a part of it that no other has [the one that "
                 "occurs most often]")
      ->type_name("TEXT");
  app.add_option("--debugger", options.debugger, "gdb or lldb [the first of them in PATH]")
      ->check(one_of({"gdb", "lldb"}))
      ->type_name("NAME");
  app.add_option("--rr", options.recording,
                 "record each process with rr, in its chaos mode, and keep the one that fails in "
                 "this new folder: gdb begins at its end, and can go back (Linux)")
      ->excludes("--debugger")
      ->type_name("FOLDER");
  app.add_option("--attempts", options.attempts, "processes after which it is given up")
      ->check(whole_number_between(1, 1'000'000))
      ->capture_default_str()
      ->type_name("N");
  app.add_option(
         "--interrupt", options.interrupt,
         "seconds after which a process that still runs is stopped, to show where it hangs; "
         "on a Mac press Ctrl-C")
      ->check(number_between(0.1, 1'000'000))
      ->capture_default_str()
      ->type_name("SECONDS");
  app.add_option("--worker", options.source.worker, "a build of the worker [as in the run]")
      ->type_name("NAME=PATH");
  add_seed(app, options.source.seed, "the inputs", "1, or as in the run");
  add_environment(app, options.source.environment, " [as in the run]");
  add_trust_run(app, options.source.trust_run);
}

/// Runs one process of a failing cell under a debugger or rr, again and again until it crashes or
/// hangs, and leaves the user at the debugger's prompt. Returns the exit code: 0 the user was
/// there; 4 it did not fail. Throws InputError, MachineError, JournalError.
int debug_command_line(const DebugOptions& options) {
  Channels channels;
  const Look failed = options.recording ? in_recording(*options.recording, options, channels)
                                        : in_debugger(options, channels);
  const ReproSource source = repro_source(options.source);
  if (source.start.processes > 1) {
    throw InputError("debug", "the cell has several processes, and a debugger is for one",
                     "Name a cell of one process, without processes=");
  }
  const std::vector<WorkerInfo> workers =
      find_workers(source.run.workers, source.run.environment, {source.start.backend});
  const std::vector<std::string> environment =
      worker_environment(source.start, inherited_environment(), source.run.environment);
  const std::string cell = to_string(source.start);
  say(stderr, "{}{}{}, until it crashes or hangs\n", printable(cell),
      source.signature.empty() ? "" : ": ", printable(source.signature));
  signal(SIGINT, SIG_IGN);
  for (int attempt = 0; attempt < options.attempts; ++attempt) {
    channels.renew();
    const uint64_t seed = trial_seed(source.run.seed.value_or(1), attempt);
    const std::vector<std::string> program = channels.around(
        {workers.front().path, "run", "--cell", cell, "--seed", std::to_string(seed)});
    if (failed(program, environment)) return kExitOk;
  }
  say(stderr, "mpsprobe: debug: none of {} processes crashed or hung. More: --attempts {}\n",
      options.attempts, options.attempts * 10);
  return kExitNothingRun;
}

}  // namespace

RunCommand add_debug(CLI::App& app, const Called& called) {
  DebugOptions begin;
  begin.source.command_line = called.words;
  return bound(app, add_debug_options, debug_command_line, begin);
}

}  // namespace mpsprobe
