#include "reproducers/proof/proof.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/executor/environment.h"
#include "harness/folder/folder.h"
#include "harness/process/command.h"
#include "harness/wire/split.h"
#include "harness/wire/variables.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

#ifdef __APPLE__
constexpr bool kApple = true;
constexpr const char* kPreload = "DYLD_INSERT_LIBRARIES";
constexpr std::string_view kSuffix = ".dylib";
#else
constexpr bool kApple = false;
constexpr const char* kPreload = "LD_PRELOAD";
constexpr std::string_view kSuffix = ".so";
#endif

Words words_in(std::string_view text) {
  const std::vector<std::string_view> words = split(text, ' ');
  return {words.begin(), words.end()};
}

std::string end_of(const std::string& text) {
  constexpr size_t kMost = 600;
  return text.size() <= kMost ? text : "..." + text.substr(text.size() - kMost);
}

std::string in_words(const CommandResult& result) {
  std::string how;
  if (result.timed_out) {
    how = "it was stopped at the time limit";
  } else if (const auto* exited = std::get_if<Exited>(&result.termination)) {
    how = fmt::format("exit status {}", exited->code);
  } else if (const auto* signaled = std::get_if<Signaled>(&result.termination)) {
    how = signal_name(signaled->signal);
  } else if (const auto* failed = std::get_if<NotSpawned>(&result.termination)) {
    how = "it could not be started: " + failed->what;
  } else {
    how = "it could not be ended";
  }
  const std::string said = result.err.empty() ? result.out : result.err;
  return said.empty() ? how : how + ": " + end_of(said);
}

std::optional<int> exit_code_of(const CommandResult& result) {
  const auto* const exited = std::get_if<Exited>(&result.termination);
  if (exited == nullptr || result.timed_out) return std::nullopt;
  return exited->code;
}

class Prover {
 public:
  explicit Prover(const ProofRequest& request) : request_(request) {}

  std::vector<Proof> all() {
    for (const Emission& emission : request_.emissions) {
      kind_ = emission.kind;
      if (kind_ == Kind::mpsprobe) continue;  // the cell itself: its trials are its proof
      folder_ = request_.work / std::string(name_of(kind_));
      if (!emission.possible()) {
        untried("build", "there is no such program for this cell: " + emission.why_not);
      } else {
        write(emission);
        if (kind_ == Kind::libtorch) libtorch();
        if (kind_ == Kind::python) python();
        if (kind_ == Kind::metal) metal();
        if (kind_ == Kind::mlx) mlx();
        if (kind_ == Kind::mlx_python) mlx_python();
      }
    }
    return std::move(proofs_);
  }

 private:
  void untried(const std::string& arm, const std::string& problem) {
    proofs_.push_back({.kind = kind_, .arm = arm, .what = "nothing", .problem = problem});
  }

  void write(const Emission& emission) const {
    const Folder folder = Folder::made(folder_);
    for (const EmittedFile& file : emission.files) {
      NewFile out(folder, file.name);
      if (out.is_open() && out.write(file.text) && out.sync() && out.replace()) continue;
      throw fs::filesystem_error("cannot be written", folder_ / file.name,
                                 std::error_code(errno, std::generic_category()));
    }
  }

  CommandResult command(const Words& words, double seconds, const Variables& variables) const {
    std::vector<std::string> environment;
    for (const std::string& each : inherited_environment()) {
      const std::string name = each.substr(0, each.find('='));
      // What another simulation left, and what would change a program's work.
      const bool ours = name == "MPSPROBE_SIM_PROFILE" || name == "MPS_FORCE_GRAPH_PATH" ||
                        name.starts_with("REPRODUCER_");
      if (!ours && !variables.contains(name) && !of_cell_.contains(name)) {
        environment.push_back(each);
      }
    }
    for (const auto& [name, value] : of_cell_) {
      if (value != kUnset && !variables.contains(name)) environment.push_back(name + "=" + value);
    }
    for (const auto& [name, value] : variables) environment.push_back(name + "=" + value);
    Words started = {"/usr/bin/env"};
    started.insert(started.end(), words.begin(), words.end());
    return run_command(started, seconds, environment);
  }

  // Runs it until each run has ended, notes how; `crashes` says that a signal is expected as well.
  bool try_arm(const std::string& arm, const std::string& what, const Words& words, int expected,
               const Variables& variables, int runs, double seconds, bool crashes = false) {
    Proof proof{.kind = kind_,
                .arm = arm,
                .what = what,
                .command = fmt::format("{}", fmt::join(words, " ")),
                .expected_exit_code = expected};
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < runs && !interrupted(); ++i) {
      const CommandResult result = command(words, seconds, variables);
      ++proof.n;
      proof.exit_code = exit_code_of(result);
      const bool crashed =
          crashes && std::holds_alternative<Signaled>(result.termination) && !result.timed_out;
      if (proof.exit_code == expected || crashed) {
        ++proof.k;
      } else if (proof.problem.empty()) {
        proof.problem = in_words(result);
      }
    }
    proof.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    proof.held = proof.n > 0 && proof.k == proof.n;
    if (proof.n == 0) proof.problem = "it was interrupted before";
    proofs_.push_back(proof);
    return proof.held;
  }

  bool build(const Words& words, const std::string& with) {
    return try_arm("build", "compiled with " + with + ", warnings as errors", words, 0, {}, 1,
                   request_.build_seconds);
  }

  std::string profile(const std::string& name) const {
    return (request_.data / "profiles" / (name + ".json")).string();
  }

  // Both arms of a program that was built or needs no building.
  void run_arms(const Words& words, Variables variables, const std::string& how, bool crashes) {
    const auto arm = [&](const std::string& name, const std::string& what, int expected) {
      return try_arm(name, what, words, expected, variables, request_.runs, request_.run_seconds,
                     crashes && expected != 0);
    };
    if (!request_.simulated) {
      arm("failing", "run as it is on this machine", 1);
      return;
    }
    variables["MPSPROBE_SIM_PROFILE"] = profile("clean");
    // First: a program that fails without a defect proves nothing by failing with one.
    if (!arm("clean", "run with " + how + ", without a defect", 0)) {
      untried("failing", "it fails without a defect as well");
      return;
    }
    variables["MPSPROBE_SIM_PROFILE"] = profile(request_.cell.profile);
    arm("failing", "run with " + how + ", profile " + request_.cell.profile, 1);
  }

  bool has_device() {
    if (request_.cell.backend != Backend::mps || kApple || request_.simulated) return true;
    untried("failing", "this machine has no MPS device");
    return false;
  }

  std::optional<Variables> preloaded() {
    if (!request_.simulated) return Variables{};
    // A program that asks for mps gets it from the stand-in.
    const char* const name =
        request_.cell.backend == Backend::mps ? "libmpsprobe_stand_in" : "libmpsprobe_sim";
    const fs::path library = request_.libraries / (name + std::string(kSuffix));
    if (!fs::exists(library)) {
      untried("failing", library.string() + " is missing: build it with LibTorch, or install it");
      return std::nullopt;
    }
    return Variables{{kPreload, library.string()}};
  }

  void libtorch() {
    if (request_.library.empty() || !fs::exists(request_.library)) {
      untried("build", "the LibTorch of the failing trials is not known or not there any more");
      return;
    }
    const fs::path lib = request_.library.parent_path();
    const std::string include = (lib.parent_path() / "include").string();
    const std::string program = (folder_ / "reproducer").string();
    Words words = words_in(
        "c++ -std=c++20 -O1 -DNDEBUG -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror");
    words.insert(words.end(),
                 {"-isystem", include, "-isystem", include + "/torch/csrc/api/include",
                  (folder_ / "reproducer.cpp").string(), "-o", program, "-L" + lib.string(),
                  "-Wl,-rpath," + lib.string(), "-ltorch_cpu", "-lc10"});
    if (!kApple) {
      // A build for CUDA needs libraries that the worker found by other means.
      words.insert(words.end(), {"-lpthread", "-Wl,--unresolved-symbols=ignore-in-shared-libs"});
    }
    if (!build(words, "c++ and the LibTorch of the worker") || !has_device()) return;
    const auto variables = preloaded();
    if (variables.has_value()) {
      run_arms({program}, *variables, "the simulated device preloaded", false);
    }
  }

  // A harness for a file of theirs, by the interpreter of the trials.
  void own_code() {
    Variables variables;
    for (const std::string& each : request_.environment) {
      const size_t equals = each.find('=');
      variables[each.substr(0, equals)] =
          equals == std::string::npos ? "" : each.substr(equals + 1);
    }
    run_arms({request_.interpreter, (folder_ / "reproducer.py").string()}, variables, "", false);
  }

  void python() {
    if (!request_.interpreter.empty()) return own_code();
    const std::string program = (folder_ / "reproducer.py").string();
    if (!try_arm("text", "compiled by python3",
                 {"python3", "-c", "import sys; compile(open(sys.argv[1]).read(), 'p', 'exec')",
                  program},
                 0, {}, 1, request_.build_seconds)) {
      return;
    }
    const CommandResult import =
        command({"python3", "-c", "import torch"}, request_.build_seconds, {});
    if (exit_code_of(import) != 0) {
      untried("failing", "python3 has no torch that can be imported here: " + in_words(import));
      return;
    }
    if (!has_device()) return;
    const auto variables = preloaded();
    if (variables.has_value()) {
      run_arms({"python3", program}, *variables, "the simulated device preloaded", true);
    }
  }

  // The folder mlx/ of the release that the worker loaded; empty where it is not there.
  fs::path mlx_root() {
    if (!request_.library.empty() && fs::exists(request_.library)) {
      return request_.library.parent_path().parent_path();
    }
    untried("build", "the MLX of the failing trials is not known or not there any more");
    return {};
  }

  void mlx() {
    const fs::path root = mlx_root();
    if (root.empty()) return;
    const std::string program = (folder_ / "reproducer").string();
    const std::string lib = (root / "lib").string();
    Words words = words_in("c++ -std=c++20 -O1 -Wall -Wextra -Wshadow -Werror");
    words.insert(words.end(),
                 {"-isystem", (root / "include").string(), (folder_ / "reproducer.cpp").string(),
                  "-o", program, "-L" + lib, "-Wl,-rpath," + lib, "-lmlx"});
    if (!kApple) {
      const fs::path beside = root.parent_path() / "mlx_cpu.libs";
      words.insert(words.end(), {"-lpthread", "-Wl,--allow-shlib-undefined",
                                 "-Wl,-rpath-link," + beside.string()});
    }
    if (build(words, "c++ and the MLX of the worker")) run_arms({program}, {}, "", false);
  }

  void mlx_python() {
    const fs::path root = mlx_root();
    if (root.empty()) return;
    // The package is of one Python's ABI; its own Python may not be the one that runs here.
    const Variables variables{{"PYTHONPATH", root.parent_path().string()}};
    const CommandResult import = command({"python3", "-c", "import mlx.core as mx; mx.array(0)"},
                                         request_.build_seconds, variables);
    if (exit_code_of(import) != 0) {
      untried("failing", "python3 cannot import that MLX here: " + in_words(import));
      return;
    }
    run_arms({"python3", (folder_ / "reproducer.py").string()}, variables, "", false);
  }

  void metal() {
    const std::string source = (folder_ / "reproducer.mm").string();
    const std::string program = (folder_ / "reproducer").string();
    Words words = {"clang++",      "-std=c++20", "-O1",  "-Wall", "-Wextra", "-Wshadow",
                   "-Wconversion", "-Werror",    source, "-o",    program};
    if (kApple) {
      words.push_back("-fno-objc-arc");
      for (const char* framework : {"Foundation", "CoreGraphics", "Metal",
                                    "MetalPerformanceShaders", "MetalPerformanceShadersGraph"}) {
        words.insert(words.end(), {"-framework", framework});
      }
    } else {
      const fs::path face = request_.libraries / "libmpsprobe_metal_face.so";
      const fs::path headers = request_.data / "frameworks";
      if (!fs::exists(face) || !fs::exists(headers)) {
        untried(
            "build",
            fmt::format("{} or {} is missing: build mpsprobe where clang and GNUstep are installed",
                        face.string(), headers.string()));
        return;
      }
      const CommandResult asked =
          command({"gcc", "-print-file-name=libobjc.so"}, request_.build_seconds, {});
      const fs::path objc = fs::path(asked.out.substr(0, asked.out.find('\n'))).parent_path();
      const Words of_gnustep = words_in(
          "-fblocks -fobjc-runtime=gcc -fconstant-string-class=NSConstantString -fobjc-exceptions "
          "-isystem /usr/include/GNUstep -lmpsprobe_metal_face -lBlocksRuntime "
          "-lgnustep-base -lobjc -lpthread");
      // Our headers before those of GNUstep.
      words.insert(words.end(),
                   {"-isystem", (request_.data / "gnustep").string(), "-isystem",
                    (objc / "include").string(), "-iframework", headers.string(),
                    "-L" + request_.libraries.string(), "-Wl,-rpath," + request_.libraries.string(),
                    "-L" + objc.string()});
      words.insert(words.end(), of_gnustep.begin(), of_gnustep.end());
    }
    if (!build(words, kApple ? "clang++" : "clang++ against the simulated device's face")) return;
    if (!kApple && !request_.simulated) {
      untried("failing", "this machine has no Metal device");
    } else if (kApple && request_.simulated) {
      untried("failing", "the simulated device's face exists on Linux alone");
    } else {
      run_arms({program}, {}, "the simulated device's face", false);
    }
    if (!kApple) {
      untried("cross-build",
              "not compiled for macOS here; tools/cross-build-macos does that with the program as "
              "it comes with mpsprobe");
    }
  }

  bool interrupted() const {
    return request_.interrupted != nullptr && request_.interrupted->load();
  }

  const ProofRequest& request_;
  const Variables of_cell_ = parse_variables(request_.cell.env);
  Kind kind_ = Kind::mpsprobe;
  fs::path folder_;
  std::vector<Proof> proofs_;
};

}  // namespace

std::vector<Proof> prove(const ProofRequest& request) {
  fs::create_directories(request.work);
  return Prover(request).all();
}

}  // namespace mpsprobe
