// A worker that becomes somebody's own command, as it is: it fills in the parameters, says that it
// is ready, and executes the command in its own place. So the runner starts, limits, follows and
// reaps the command itself. What the command dies of, and where it hangs, a library finds out that
// is loaded into it (preload.cpp).
#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "harness/input/input_error.h"
#include "harness/input/json_text.h"
#include "harness/provenance/executable.h"
#include "harness/wire/assignment.h"
#include "harness/wire/cell.h"
#include "harness/wire/child_crashes.h"
#include "harness/wire/event.h"
#include "harness/wire/flight_recorder.h"
#include "harness/wire/own_command.h"
#include "harness/wire/shared_memory.h"
#include "harness/wire/variables.h"
#include "harness/wire/write_all.h"
#include "scenarios/command/channels.h"
#include "scenarios/command/command.h"
#include "scenarios/worker/workload.h"

extern char** environ;

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kName = "mpsprobe-command-worker";
#ifdef __APPLE__
constexpr const char* kLibrary = "libmpsprobe_preload.dylib";
constexpr const char* kPreload = "DYLD_INSERT_LIBRARIES";
#else
constexpr const char* kLibrary = "libmpsprobe_preload.so";
constexpr const char* kPreload = "LD_PRELOAD";
#endif

/// Of every process of a trial; an own one (--set) is a variable of the cell's environment.
const std::vector<std::string> kParameters{"threads", "processes", "iterations", "seed",
                                           "rank",    "port",      "peers"};

constexpr std::pair<const char*, const char*> kVariables[] = {{"MPSPROBE_RANK", "rank"},
                                                              {"MPSPROBE_PROCESSES", "processes"},
                                                              {"MPSPROBE_PORT", "port"},
                                                              {"MPSPROBE_PEERS", "peers"},
                                                              {"MPSPROBE_SEED", "seed"}};

void send(const Event& event) {
  if (!write_all(kEventsFd, to_line(event) + "\n")) _exit(77);  // the runner has gone
}

OwnCommand own_command() {
  const char* const value = std::getenv(std::string(kCommandVariable).c_str());
  if (auto command = parse_own_command(value == nullptr ? "" : value)) return *std::move(command);
  throw SetupError(std::string(kCommandVariable) +
                   " names no command. `mpsprobe run -- COMMAND ARGUMENTS` sets it");
}

/// The environment that this program stands in comes first in PATH, as in an activated one: a
/// command `python` is that of the environment whose worker was named.
void activate_environment(const char* program) {
  const fs::path folder = fs::path(program).parent_path();
  std::error_code error;
  if (folder.empty() || !fs::exists(folder.parent_path() / "pyvenv.cfg", error)) return;
  const char* const path = std::getenv("PATH");
  setenv("PATH", (folder.string() + (path == nullptr ? "" : ":" + std::string(path))).c_str(), 1);
  setenv("VIRTUAL_ENV", folder.parent_path().c_str(), 1);
}

/// What tells one version of the command's own files from another: of each word that names a file
/// its size and when it was changed.
json code_of(const OwnCommand& command) {
  json code = json::object();
  for (const std::string& word : command.words) {
    struct stat file {};
    const fs::path path = (fs::path(command.folder) / word).lexically_normal();
    if (word.starts_with('-') || stat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode)) continue;
    code[path.string()] =
        fmt::format("{} bytes of {:%F %T} UTC", file.st_size, fmt::gmtime(file.st_mtime));
  }
  return code;
}

json provenance_of(const OwnCommand& command) {
  return {{"own_command", true}, {"code", code_of(command)}};
}

/// Throws SetupError where the command cannot be run.
void require_program(const OwnCommand& command, const std::string& program) {
  if (!program_path(program, command.folder).empty()) return;
  const std::string where =
      program.find('/') == std::string::npos ? "is in no folder of PATH" : "cannot be executed";
  throw SetupError(fmt::format("{} {}. Write the command as the shell takes it", program, where));
}

int describe() {
  const OwnCommand command = own_command();
  if (const std::string slip = mistyped_parameter(command, kParameters); !slip.empty()) {
    throw SetupError(slip + ". An own parameter is given its values by --set NAME=A,B");
  }
  if (command.words.front().find('{') == std::string::npos)
    require_program(command, command.words.front());
  json axes = json::array();
  for (const char* axis : {"threads", "iterations"}) {
    if (names_parameter(command, axis)) axes.push_back(axis);
  }
  json provenance = provenance_of(command);
  provenance.update(python_packages(command));
  json answer{{"mpsprobe_worker", kProtocolVersion},
              {"version", MPSPROBE_VERSION},
              {"provenance", provenance},
              {"axes", axes},
              {"operations",
               {{{"name", operation_name(command)},
                 {"summary", "an own command, as it is"},
                 {"source", "the user"},
                 {"paths", {"default"}},
                 {"has_parameters", false},
                 {"dtypes", {"default"}},
                 {"shape", "default"},
                 {"dimensions", ""}}}},
              {"backends",
               {{{"name", name_of(Backend::command)},
                 {"available", true},
                 {"reason", ""},
                 {"device", "its own"}}}}};
  // Which variables a command reads nobody knows but its author, who gave them.
  std::istringstream names(
      std::getenv("MPSPROBE_VARIABLES") == nullptr ? "" : std::getenv("MPSPROBE_VARIABLES"));
  answer["variables"] = json::object();
  for (std::string name; names >> name;) answer["variables"][name] = command.words.front();
  std::printf("%s\n", json_text(answer, 2).c_str());
  return 0;
}

Parameters parameters_of(const Cell& cell, const Assignment& assignment) {
  Parameters parameters{{"threads", std::to_string(cell.threads)},
                        {"processes", std::to_string(cell.processes)},
                        {"iterations", std::to_string(cell.iterations)},
                        {"seed", std::to_string(assignment.seed)},
                        {"rank", std::to_string(assignment.process)}};
  const int port = free_ports(assignment.seed, cell.processes);
  std::string peers;
  for (int process = 0; process < cell.processes; ++process) {
    peers += fmt::format("{}127.0.0.1:{}", process == 0 ? "" : ",", port + process);
  }
  parameters["port"] = std::to_string(port);
  parameters["peers"] = peers;
  for (const auto& [name, value] : parse_variables(cell.env)) {
    if (value != kUnset) parameters[name] = value;
  }
  return parameters;
}

void set_up_environment(const Parameters& parameters) {
  for (const auto& [variable, parameter] : kVariables) {
    setenv(variable, parameters.at(parameter).c_str(), 1);
  }
  // A program that was built with AddressSanitizer refuses to run beside what is loaded before.
  const char* const asan = std::getenv("ASAN_OPTIONS");
  setenv("ASAN_OPTIONS",
         ("verify_asan_link_order=0:" + std::string(asan == nullptr ? "" : asan)).c_str(), 1);
  // Python then writes where it was when it dies. What the user says of it stands.
  setenv("PYTHONFAULTHANDLER", "1", 0);
  unsetenv(std::string(kCommandVariable).c_str());
}

/// Has the command load the library, which goes on with the recorder and, on a Mac, with the gate.
void load_library_into_command() {
  const fs::path library = installation_folder() / "lib" / kLibrary;
  std::error_code error;
  if (!fs::exists(library, error))
    throw SetupError(library.string() + " is missing: install again");
  const char* const others = std::getenv(kPreload);
  setenv(
      kPreload,
      (library.string() + (others == nullptr || *others == '\0' ? "" : ":" + std::string(others)))
          .c_str(),
      1);
  // Out of the way of the low numbers, which shells use.
  constexpr int kLowest = 200;
  const int recorder = fcntl(kRecorderFd, F_DUPFD, kLowest);
  const int gate = fcntl(kGateFd, F_DUPFD, kLowest);
  if (recorder < 0 || gate < 0) throw SetupError("ulimit -n is too low: raise it to 256");
  setenv(kChannelsVariable, fmt::format("{} {} {}", getpid(), recorder, gate).c_str(), 1);
  // Without the runner's mark nobody looks there.
  const char* const mark = std::getenv("MPSPROBE_PROCESS");
  if (mark != nullptr) setenv(kCrashesVariable, child_crash_folder(mark).c_str(), 1);
}

/// Returns where the runner starts the trial, and ends this process where it has gone.
void wait_for_start() {
  [[maybe_unused]] const pid_t runner = getppid();
  char byte = 0;
  ssize_t got = 0;
  do {
    got = read(kGateFd, &byte, 1);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) _exit(77);
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != runner) _exit(77);  // it went before it could be asked for that
#endif
}

/// Does not return where the command begins to run.
void become(const OwnCommand& command, const Cell& cell, const Assignment& assignment) {
  const Parameters parameters = parameters_of(cell, assignment);
  std::vector<std::string> words;
  for (const std::string& word : command.words) words.push_back(filled_in(word, parameters));
  require_program(command, words.front());
  const std::string program = program_path(words.front(), command.folder);
  if (chdir(command.folder.c_str()) != 0) {
    throw SetupError(command.folder + ": " + std::strerror(errno));
  }
  set_up_environment(parameters);
  load_library_into_command();
  auto memory = SharedMemory::attach(kRecorderFd, sizeof(recorder_layout::Block));
  FlightRecorder recorder(static_cast<recorder_layout::Block*>(memory.data()));
  recorder.begin_thread(recorder_layout::kMainThread, "main");
  send(ReadyEvent{});
  wait_for_start();
  recorder.set_phase(Phase::run);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  for (const int fd : {kRecorderFd, kEventsFd, kGateFd}) fcntl(fd, F_SETFD, FD_CLOEXEC);
  execve(program.c_str(), arguments.data(), environ);
  throw SetupError(words.front() + ": " + std::strerror(errno));
}

int run(const Assignment& assignment) {
  for (const int fd : {kRecorderFd, kEventsFd, kGateFd}) {
    if (fcntl(fd, F_GETFD) >= 0) continue;
    std::fprintf(stderr, "%s: descriptor %d is not open: the runner starts it\n", kName, fd);
    return 3;
  }
  try {
    const OwnCommand command = own_command();
    send(HelloEvent{kProtocolVersion, json_text(provenance_of(command))});
    become(command, parse_cell(assignment.cell), assignment);
  } catch (const std::exception& error) {
    FailureEvent failure;
    failure.kind = "setup_failed";
    failure.text = error.what();
    failure.phase = name_of(Phase::startup);
    send(failure);
  }
  return 0;
}

int worker(int argc, char** argv) {
  CLI::App app{"Runs one process of one trial of a command. Started by the runner, not by hand."};
  app.require_subcommand(1);
  const CLI::App* const describes =
      app.add_subcommand("describe", "print what this worker is, as JSON");
  CLI::App* const runs = app.add_subcommand("run", "run one process of one trial");
  Assignment assignment;
  runs->add_option("--cell", assignment.cell, "the cell, in its text form")->required();
  runs->add_option("--process", assignment.process, "index of this process in the trial");
  runs->add_option("--iteration", assignment.iteration, "with lifetime=fresh: which one it is");
  runs->add_option("--seed", assignment.seed, "seed of the inputs");
  try {
    app.parse(argc, argv);
    activate_environment(argv[0]);
    return *describes ? describe() : run(assignment);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", kName, error.what());
    return 3;
  }
}

}  // namespace
}  // namespace mpsprobe

int main(int argc, char** argv) {
  return mpsprobe::worker(argc, argv);
}
