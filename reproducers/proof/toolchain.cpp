#include "reproducers/proof/toolchain.h"

#include <fmt/format.h>

#include <cstdlib>
#include <variant>

#include "harness/executor/environment.h"
#include "harness/wire/variables.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

#ifdef __APPLE__
constexpr bool kApple = true;
constexpr const char* kPreload = "DYLD_INSERT_LIBRARIES";
constexpr std::string_view kSuffix = ".dylib";
#else
constexpr bool kApple = false;
constexpr const char* kPreload = "LD_PRELOAD";
constexpr std::string_view kSuffix = ".so";
#endif

/// The line with its first word, NAME=$(...), naming this folder, and with warnings as errors.
std::string build_with(const std::string& line, const fs::path& library) {
  const size_t equals = line.find('=');
  const std::string rest = line.substr(line.find("); ") + 1);
  return line.substr(0, equals + 1) + shell_quoted(library.string()) + rest +
         " -Wall -Wextra -Werror";
}

class Chooser {
 public:
  Chooser(const Emission& program, const ProofRequest& request, const fs::path& folder)
      : program_(program), request_(request), folder_(folder) {}

  Toolchain choose() {
    switch (program_.kind) {
      case Kind::libtorch:
        on_a_library("c++ and the LibTorch of the worker");
        of_torch();
        break;
      case Kind::mlx:
        on_a_library("c++ and the MLX of the worker");
        break;
      case Kind::metal:
        metal();
        break;
      case Kind::mlx_python:
        mlx_python();
        break;
      default:
        if (request_.interpreter.empty()) {
          python();
        } else {
          own_code();
        }
    }
    return chosen_;
  }

 private:
  std::string source() const { return (folder_ / program_.files.front().name).string(); }

  // The folder that holds lib/ and include/ of the library that the worker loaded.
  fs::path root() const { return request_.library.parent_path().parent_path(); }

  bool has_library() {
    std::error_code error;
    const bool there = !request_.library.empty() && fs::exists(request_.library, error);
    if (!there) chosen_.no_build = "the library of the failing trials is not known or not there";
    return there;
  }

  void on_a_library(const char* with) {
    chosen_.with = with;
    chosen_.run = {(folder_ / "reproducer").string()};
    if (has_library()) chosen_.build = build_with(program_.build, root());
  }

  void of_torch() {
    const bool mps = request_.what.cell.backend == Backend::mps;
    if (mps && !kApple && !request_.simulated) chosen_.no_run = "this machine has no MPS device";
    if (!request_.simulated) return;
    // A program that asks for mps gets it from the stand-in.
    const char* const name = mps ? "libmpsprobe_stand_in" : "libmpsprobe_sim";
    const fs::path library = request_.libraries / (name + std::string(kSuffix));
    if (!fs::exists(library)) {
      chosen_.no_run = library.string() + " is missing: build it with LibTorch, or install it";
    }
    chosen_.variables[kPreload] = library.string();
    chosen_.how = "the simulated device preloaded";
  }

  void python() {
    chosen_.run = {"python3", source()};
    of_torch();
    if (!chosen_.no_run.empty()) return;
    const CommandResult import =
        run_for(request_, {"python3", "-c", "import torch"}, request_.build_seconds, {});
    if (import.termination != Termination(Exited{0})) {
      chosen_.no_run = "python3 has no torch that can be imported here: " + in_words(import);
    }
  }

  // Takes a file of theirs, by the interpreter of the trials.
  void own_code() {
    chosen_.run = {request_.interpreter, source()};
    for (const std::string& each : request_.environment) {
      const size_t equals = each.find('=');
      chosen_.variables[each.substr(0, equals)] =
          equals == std::string::npos ? "" : each.substr(equals + 1);
    }
    if (program_.beside.empty() || chosen_.variables.contains("PYTHONPATH")) return;
    const char* const inherited = std::getenv("PYTHONPATH");
    chosen_.variables["PYTHONPATH"] =
        program_.beside.string() + (inherited == nullptr ? "" : std::string(":") + inherited);
  }

  // A package is of one Python's ABI: that of another Python may have its own, of that release.
  void mlx_python() {
    chosen_.run = {"python3", source()};
    if (!has_library()) return;
    std::string problem;
    for (const Variables& with : {Variables{{"PYTHONPATH", root().parent_path().string()}}, {}}) {
      const CommandResult asked = run_for(
          request_,
          {"python3", "-c", "import mlx.core as mx; mx.array(0); print(mx.__version__, end='')"},
          request_.build_seconds, with);
      chosen_.variables = with;
      if (asked.termination != Termination(Exited{0})) {
        if (problem.empty()) problem = "python3 cannot import that MLX here: " + in_words(asked);
      } else if (!with.empty() || asked.out == request_.version) {
        return;
      }
    }
    chosen_.no_run = problem;
  }

  void metal() {
    chosen_.run = {(folder_ / "reproducer").string()};
    if (kApple) {
      chosen_.with = "clang++";
      chosen_.build = program_.build + " -Wall -Wextra -Werror -Wno-unguarded-availability-new";
      if (request_.simulated) chosen_.no_run = "the simulated device's face exists on Linux alone";
      return;
    }
    chosen_.with = "clang++ against the simulated device's face";
    chosen_.how = "the simulated device's face";
    if (!request_.simulated) chosen_.no_run = "this machine has no Metal device";
    const fs::path face = request_.libraries / "libmpsprobe_metal_face.so";
    const fs::path headers = request_.data / "frameworks";
    if (!fs::exists(face) || !fs::exists(headers)) {
      chosen_.no_build =
          fmt::format("{} or {} is missing: build mpsprobe where clang and GNUstep are installed",
                      face.string(), headers.string());
      return;
    }
    // Our headers before those of GNUstep.
    chosen_.build = fmt::format(
        "OBJC=$(dirname $(gcc -print-file-name=libobjc.so)); clang++ -std=c++20 -O1 -Wall -Wextra "
        "-Werror reproducer.mm -o reproducer -isystem {} -isystem $OBJC/include -iframework {} "
        "-L{} -Wl,-rpath,{} -L$OBJC -fblocks -fobjc-runtime=gcc "
        "-fconstant-string-class=NSConstantString -fobjc-exceptions -isystem /usr/include/GNUstep "
        "-lmpsprobe_metal_face -lBlocksRuntime -lgnustep-base -lobjc -lpthread",
        shell_quoted((request_.data / "gnustep").string()), shell_quoted(headers.string()),
        shell_quoted(request_.libraries.string()), shell_quoted(request_.libraries.string()));
  }

  const Emission& program_;
  const ProofRequest& request_;
  const fs::path& folder_;
  Toolchain chosen_;
};

}  // namespace

Toolchain toolchain_for(const Emission& program, const ProofRequest& request,
                        const fs::path& folder) {
  return Chooser(program, request, folder).choose();
}

CommandResult run_for(const ProofRequest& request, const std::vector<std::string>& command,
                      double seconds, const Variables& variables) {
  Variables wanted = parse_variables(request.what.cell.env);
  for (const auto& [name, value] : variables) wanted[name] = value;
  std::vector<std::string> environment;
  for (const std::string& each : inherited_environment()) {
    const std::string name = each.substr(0, each.find('='));
    // What another simulation left, and what would change a program's work.
    const bool ours = name == "MPSPROBE_SIM_PROFILE" || name == "MPS_FORCE_GRAPH_PATH";
    if (!ours && !wanted.contains(name)) environment.push_back(each);
  }
  for (const auto& [name, value] : wanted) {
    if (value != kUnset) environment.push_back(name + "=" + value);
  }
  // Not by env, which takes a path with '=' in it for a variable.
  std::vector<std::string> started = {"/bin/sh", "-c", "exec \"$0\" \"$@\""};
  started.insert(started.end(), command.begin(), command.end());
  return run_command(started, seconds, environment);
}

std::string in_words(const CommandResult& result) {
  constexpr size_t kMostSaid = 600;
  std::string how = "it could not be ended";
  if (result.timed_out) {
    how = "it was stopped at the time limit";
  } else if (const auto* exited = std::get_if<Exited>(&result.termination)) {
    how = fmt::format("exit status {}", exited->code);
  } else if (const auto* signaled = std::get_if<Signaled>(&result.termination)) {
    how = signal_name(signaled->signal);
  } else if (const auto* failed = std::get_if<NotSpawned>(&result.termination)) {
    how = "it could not be started: " + failed->what;
  }
  const std::string& said = result.err.empty() ? result.out : result.err;
  if (said.empty()) return how;
  return how + ": " +
         (said.size() <= kMostSaid ? said : "..." + said.substr(said.size() - kMostSaid));
}

}  // namespace mpsprobe
