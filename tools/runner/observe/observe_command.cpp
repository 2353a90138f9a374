#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "harness/input/input_file.h"
#include "harness/input/json_shape.h"
#include "harness/input/json_text.h"
#include "harness/process/spawn.h"
#include "harness/provenance/executable.h"
#include "tools/runner/command.h"
#include "tools/runner/exit_code.h"
#include "tools/runner/machine_error.h"
#include "tools/runner/say.h"

extern char** environ;

namespace mpsprobe {
namespace {

struct ObserveOptions {
  std::vector<std::string> program;  ///< and its arguments
  bool json = false;
  bool trap = false;  ///< hold threads where others may meet them
};

using nlohmann::json;
namespace fs = std::filesystem;

#ifdef __APPLE__
constexpr const char* kLibrary = "libmpsprobe_observer.dylib";
constexpr const char* kVariable = "DYLD_INSERT_LIBRARIES";
constexpr const char* kStripped =
    "macOS takes DYLD_INSERT_LIBRARIES away from programs in /bin, /usr/bin, /sbin and /System, "
    "from scripts that "
    "one of them runs (#!/usr/bin/env), and from signed ones with the hardened runtime that lack "
    "the entitlement "
    "com.apple.security.cs.allow-dyld-environment-variables. Name the interpreter itself (a Python "
    "of your own, and "
    "not /usr/bin/python3), or sign a copy of the program again: codesign -f -s - COPY.";
#else
constexpr const char* kLibrary = "libmpsprobe_observer.so";
constexpr const char* kVariable = "LD_PRELOAD";
constexpr const char* kStripped =
    "A program that is linked statically or runs as another user loads no library that is named "
    "so.";
#endif
constexpr const char* kReport = "MPSPROBE_OBSERVER_REPORT";
constexpr const char* kTrap = "MPSPROBE_OBSERVER_TRAP";
constexpr int kMostDepth = 16;
constexpr size_t kMostLine = size_t{1} << 20;

/// A file in a folder of its own, gone with it.
class ReportFile {
 public:
  ReportFile() {
    std::string name = (fs::temp_directory_path() / "mpsprobe-observe-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw MachineError(name + ": " + std::strerror(errno) + ". Name another folder with TMPDIR.");
    }
    folder_ = name;
  }
  ReportFile(const ReportFile&) = delete;
  ReportFile& operator=(const ReportFile&) = delete;
  ~ReportFile() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  std::string path() const { return (folder_ / "report.jsonl").string(); }

 private:
  fs::path folder_;
};

std::vector<std::string> environment_with(const std::string& library, const std::string& report,
                                          bool trap) {
  std::vector<std::string> all;
  std::string inserted = library;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string variable = *each;
    const std::string name = variable.substr(0, variable.find('='));
    if (name == kReport || name == kTrap) continue;
    if (name == kVariable) {
      inserted += ':' + variable.substr(name.size() + 1);
    } else {
      all.push_back(variable);
    }
  }
  all.push_back(std::string(kVariable) + '=' + inserted);
  all.push_back(std::string(kReport) + '=' + report);
  if (trap) all.push_back(std::string(kTrap) + "=1");
  return all;
}

/// Runs it in the foreground, as a shell would; its wait status.
int run_program(const std::vector<std::string>& program,
                const std::vector<std::string>& environment, bool output_aside) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  // Standard output is the report's.
  if (output_aside) posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGINT);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  // Ctrl-C is for the program; the report of what there is follows.
  void (*const before)(int) = std::signal(SIGINT, SIG_IGN);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, program[0].c_str(), &actions, &attributes,
                                 exec_pointers(program).data(), exec_pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (error == 0) {
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
  }
  std::signal(SIGINT, before);
  if (error != 0) {
    throw MachineError(program[0] + ": " + std::strerror(error) +
                       ". Give the program after --, as a shell takes it.");
  }
  return status;
}

struct ProgramReport {
  bool began = false;
  int proofs = 0;
  int suspicions = 0;
  json calls = nullptr;  ///< not known of a process that did not end by itself
  json findings = json::array();
};

// Written by the program's process, and so by anybody: what does not read is left out.
ProgramReport read_report(const std::string& path) {
  ProgramReport observation;
  if (!fs::is_regular_file(fs::symlink_status(path))) return observation;
  std::ifstream file(path);
  for (std::string line; read_line(file, line, kMostLine);) {
    if (nested_deeper(line, kMostDepth)) continue;
    json read = parsed_if_json(line);
    if (!read.is_object() || !read.contains("kind")) continue;
    const json& kind = read["kind"];
    observation.began = true;
    if (kind == "end" && read.contains("calls") && read["calls"].is_number_unsigned()) {
      const auto before =
          observation.calls.is_null() ? 0ULL : observation.calls.get<unsigned long long>();
      observation.calls = before + read["calls"].get<unsigned long long>();
    } else if (kind == "misuse" || kind == "suspicion") {
      ++(kind == "misuse" ? observation.proofs : observation.suspicions);
      observation.findings.push_back(std::move(read));
    }
  }
  return observation;
}

json end_of(int status) {
  if (WIFSIGNALED(status)) return {{"signal", WTERMSIG(status)}};
  return {{"code", WEXITSTATUS(status)}};
}

std::string end_in_words(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

std::string times(int count, const char* one, const char* more) {
  return fmt::format("{} {}", count, count == 1 ? one : more);
}

void add_observe_options(CLI::App& app, ObserveOptions& options) {
  app.add_option("program", options.program, "the program, and its arguments, after --")
      ->required()
      ->type_name("PROGRAM");
  app.add_flag("--trap", options.trap,
               "hold a thread now and then inside an object that several threads use, so that two "
               "meet there");
  app.add_flag("--json", options.json,
               "print the findings as one JSON object; the program's standard output goes to "
               "standard error");
}

/// `mpsprobe observe`. Returns the exit code; throws MachineError.
int observe_command_line(const ObserveOptions& options) {
  const fs::path library = installation_folder() / "lib" / kLibrary;
  if (!fs::exists(library)) {
    throw MachineError(library.string() +
                       ": the observer was not built. It needs clang and GNUstep, or a Mac: run "
                       "cmake again and read "
                       "what it says of the backend metal.");
  }
  const ReportFile report;
  const int status =
      run_program(options.program, environment_with(library.string(), report.path(), options.trap),
                  options.json);
  const ProgramReport observation = read_report(report.path());
  if (options.json) {
    say(stdout, "{}\n",
        ascii_json_text(json{{"mpsprobe_observe", 1},
                             {"program", options.program},
                             {"observed", observation.began},
                             {"calls", observation.calls},
                             {"proofs", observation.proofs},
                             {"suspicions", observation.suspicions},
                             {"end", end_of(status)},
                             {"findings", observation.findings}},
                        1));
  }
  if (!observation.began) {
    say(stderr,
        "mpsprobe observe: nothing was observed: the program made no Metal device, or did not load "
        "the observer. {} "
        "The program {}.\n",
        kStripped, end_in_words(status));
    return kExitNothingRun;
  }
  const std::string calls = observation.calls.is_null()
                                ? "calls until its end"
                                : fmt::format("{} calls", json_text(observation.calls));
  const std::string broken =
      observation.proofs == 0
          ? std::string("none broken")
          : times(observation.proofs, "rule broken", "rules broken") + ", see above";
  const std::string suspected =
      observation.suspicions == 0 ? std::string()
                                  : ", " + times(observation.suspicions, "suspicion", "suspicions");
  say(stderr, "mpsprobe observe: rules observed: {}, {}{}. The program {}.\n", calls, broken,
      suspected, end_in_words(status));
  return observation.proofs == 0 ? kExitOk : kExitFound;
}

}  // namespace

RunCommand add_observe(CLI::App& app, const Called& /*called*/) {
  return bound(app, add_observe_options, observe_command_line);
}

}  // namespace mpsprobe
