#include "reproducers/proof/proof.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/executor/environment.h"
#include "harness/folder/folder.h"
#include "harness/process/command.h"
#include "harness/statistics/interval.h"
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

/// Attempts of each form, until so many have failed or so long; then of the best one, fresh ones.
constexpr int kAttemptsOfForm = 40;
constexpr int kFailuresOfForm = 8;
constexpr double kSecondsOfForm = 10;
constexpr int kAttempts = 40;
constexpr int kFailures = 10;
/// Attempts with one thread, none of which may fail.
constexpr int kAlone = 3;
/// Where an attempt hangs it takes its whole limit.
constexpr int kHangs = 1;
constexpr int kShortest = 10;  ///< seconds of the shortest limit
constexpr double kTimesTheFastest = 3;
/// Rounds of threads in one process, as the other of two forms.
constexpr int kManyRounds = 50;

/// A simpler form is taken where it fails at least so often, beside the best one.
constexpr double kNearly = 0.9;
/// Whoever gets the program has another machine, or this one is busier then: a race that was seen
/// in 30 of 40 attempts was seen in 4 of 20 an hour later, beside six builds.
constexpr double kElsewhere = 0.5;

/// How often attempts failed.
struct Rate {
  int failed = 0, attempts = 0;
  double seconds = 0;
  double fastest = 1e9;  ///< seconds of the shortest attempt
  double value() const { return attempts == 0 ? 0 : static_cast<double>(failed) / attempts; }
};

/// How a program of one kind is made to run here.
struct Runner {
  Words compile;  ///< empty: nothing to build
  std::string with;
  Words run;
  Variables variables;
  std::string how;      ///< what is under it, in words; empty: nothing is
  std::string why_not;  ///< then it is built, and no more
};

class Prover {
 public:
  explicit Prover(const ProofRequest& request) : request_(request) {}

  Proved all() {
    for (Emission& emission : emit(request_.what)) {
      kind_ = emission.kind;
      const auto& kinds = request_.kinds;
      if (!kinds.empty() && std::find(kinds.begin(), kinds.end(), kind_) == kinds.end()) continue;
      folder_ = request_.work / std::string(name_of(kind_));
      if (kind_ == Kind::mpsprobe) {  // the cell itself: its trials are its proof
      } else if (!emission.possible()) {
        untried("build", "there is no such program for this cell: " + emission.why_not);
      } else {
        beside_ = emission.beside;
        write(emission);
        if (const std::optional<Runner> runner = runner_of_kind())
          emission = tried(emission, *runner);
      }
      emissions_.push_back(std::move(emission));
    }
    return {std::move(emissions_), std::move(proofs_)};
  }

 private:
  void untried(const std::string& arm, const std::string& problem) {
    proofs_.push_back({.kind = kind_, .arm = arm, .what = "nothing", .problem = problem});
  }

  std::optional<Runner> runner_of_kind() {
    switch (kind_) {
      case Kind::libtorch:
        return libtorch();
      case Kind::python:
        return python();
      case Kind::metal:
        return metal();
      case Kind::mlx:
        return mlx();
      case Kind::mlx_python:
        return mlx_python();
      default:
        return std::nullopt;
    }
  }

  /// The program in the form that fails most often, or why there is none.
  Emission tried(Emission emission, const Runner& runner) {
    if (!runner.compile.empty() && !build(runner)) return emission;
    written_.clear();
    if (!runner.why_not.empty()) {
      untried("failing", runner.why_not);
      return emission;
    }
    Variables failing = runner.variables;
    if (request_.simulated) failing["MPSPROBE_SIM_PROFILE"] = profile(request_.what.cell.profile);
    EmissionRequest what = request_.what;
    what.attempts = 1;
    choose_form(what, runner, failing);
    if (interrupted() || !remake(what, runner)) return emission;
    // The lower end of the interval is exact for both rules to stop.
    const Rate rate =
        rate_of(runner, failing, kAttempts, what.outcome == Outcome::hang ? kHangs : kFailures,
                request_.run_seconds);
    Proof proof{.kind = kind_,
                .arm = "rate",
                .what = what.form.rounds == 1
                            ? "attempts that failed, a process each"
                            : fmt::format("attempts that failed, a process of {} rounds each",
                                          what.form.rounds),
                .command = fmt::format("{} once", fmt::join(runner.run, " ")),
                .expected_exit_code = 1,
                .k = rate.failed,
                .n = rate.attempts,
                .seconds = rate.seconds,
                .held = rate.failed > 0 && rate.failed == rate.attempts};
    if (rate.attempts == 0) return emission;
    const double low = exact_interval(rate.failed, rate.attempts).low;
    if (rate.failed > 0) {
      what.attempts = attempts_for(kElsewhere * low, what.outcome == Outcome::hang ? kHangs : 300);
      what.seconds = what.attempts * rate.seconds / rate.attempts;
      proof.form = what.form;
      proof.attempts = what.attempts;
      proof.attempts_seconds = what.seconds;
      proof.limit = what.limit;
    }
    proofs_.push_back(proof);
    if (rate.failed == 0) {
      emission.files.clear();
      emission.why_not = fmt::format("it did not fail in {} attempts here", rate.attempts);
      return emission;
    }
    emission = emission_of(what);
    if (!request_.simulated && !passes_alone(what, runner, failing)) {
      emission.files.clear();
      emission.why_not = "it fails with one thread as well here: threads are not what it needs";
      return emission;
    }
    if (!remake(what, runner)) return emission;
    if (request_.simulated) {
      Variables clean = runner.variables;
      clean["MPSPROBE_SIM_PROFILE"] = profile("clean");
      try_arm("clean", "run with " + runner.how + ", without a defect", runner.run, 0, clean,
              request_.run_seconds);
    }
    try_arm("failing",
            runner.how.empty()
                ? "run as it is on this machine"
                : fmt::format("run with {}, profile {}", runner.how, request_.what.cell.profile),
            runner.run, 1, failing, request_.run_seconds);
    return emission;
  }

  /// A program that cannot run at all fails too, and so does what needs no threads.
  bool passes_alone(EmissionRequest what, const Runner& runner, const Variables& variables) {
    if (what.cell.threads == 1) return true;
    what.cell.threads = 1;
    what.attempts = 1;
    if (!remake(what, runner)) return false;
    const Rate rate = rate_of(runner, variables, kAlone, 1, request_.run_seconds);
    proofs_.push_back({.kind = kind_,
                       .arm = "alone",
                       .what = "attempts with one thread",
                       .k = rate.attempts - rate.failed,
                       .n = rate.attempts,
                       .seconds = rate.seconds,
                       .held = rate.attempts > 0 && rate.failed == 0,
                       .problem = rate.failed > 0 ? "it fails with one thread as well" : ""});
    return rate.failed == 0;
  }

  /// The plainest, where it always fails. Else first who makes what before the threads meet, in
  /// processes of many rounds, where a difference shows soonest; then one round a process, which is
  /// simpler, where that fails nearly as often.
  void choose_form(EmissionRequest& what, const Runner& runner, const Variables& variables) {
    const Cell& cell = what.cell;
    std::vector<ProgramForm> forms = {{.rounds = kManyRounds}};
    if (cell.backend == Backend::mlx && cell.owner == Owner::thread) {
      for (const bool inputs : {true, false}) {
        for (const bool stream : {true, false}) {
          if (!inputs || stream) {
            forms.push_back(
                {.inputs_first = inputs, .stream_first = stream, .rounds = kManyRounds});
          }
        }
      }
    }
    if (what.outcome == Outcome::hang) {
      what.limit = kShortest;
      return;
    }
    std::map<std::string, Rate> rates;
    const auto rate_in = [&](const ProgramForm& form) {
      what.form = form;
      // What the cell has not makes no difference: then it is the same program.
      const auto [at, is_new] = rates.try_emplace(emission_of(what).files.at(0).text);
      if (is_new && remake(what, runner)) {
        at->second = rate_of(runner, variables, kAttemptsOfForm, kFailuresOfForm, kSecondsOfForm);
      }
      return at->second;
    };
    const Rate plain = rate_in({});
    if (plain.value() == 1) return;
    // So long that one which takes it hangs, and no longer: a race may also end so.
    what.limit = static_cast<int>(
        std::clamp(kTimesTheFastest * kManyRounds * plain.fastest, 1.0 * kShortest, 60.0));
    Rate best;
    ProgramForm chosen = forms.front();
    for (const ProgramForm& form : forms) {
      if (interrupted()) break;
      const Rate rate = rate_in(form);
      if (best.attempts > 0 && rate.value() <= best.value()) continue;
      best = rate;
      chosen = form;
    }
    ProgramForm once = chosen;
    once.rounds = 1;
    what.form = rate_in(once).value() >= kNearly * best.value() ? once : chosen;
  }

  Rate rate_of(const Runner& runner, const Variables& variables, int most, int enough,
               double most_seconds) {
    Words once = runner.run;
    once.emplace_back("once");
    Rate rate;
    while (rate.attempts < most && rate.failed < enough && rate.seconds < most_seconds &&
           !interrupted()) {
      const auto start = std::chrono::steady_clock::now();
      const CommandResult result = command(once, request_.run_seconds, variables);
      const double seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      rate.seconds += seconds;
      rate.fastest = std::min(rate.fastest, seconds);
      ++rate.attempts;
      // What it prints of a GPU's error is no failure of the process.
      const bool printed =
          request_.what.outcome == Outcome::gpu_error &&
          (result.out + result.err).find("exited with error status") != std::string::npos;
      if (printed || exit_code_of(result) != 0) ++rate.failed;
    }
    return rate;
  }

  Emission emission_of(const EmissionRequest& what) const {
    for (Emission& each : emit(what)) {
      if (each.kind == kind_) return std::move(each);
    }
    return {};
  }

  bool remake(const EmissionRequest& what, const Runner& runner) {
    const Emission emission = emission_of(what);
    if (emission.files.empty()) return false;
    if (emission.files.front().text == written_) return true;
    write(emission);
    written_.clear();
    if (!runner.compile.empty() &&
        exit_code_of(command(runner.compile, request_.build_seconds, {})) != 0) {
      return false;
    }
    written_ = emission.files.front().text;
    return true;
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
      const bool ours = name == "MPSPROBE_SIM_PROFILE" || name == "MPS_FORCE_GRAPH_PATH";
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

  bool try_arm(const std::string& arm, const std::string& what, const Words& words, int expected,
               const Variables& variables, double seconds) {
    Proof proof{.kind = kind_,
                .arm = arm,
                .what = what,
                .command = fmt::format("{}", fmt::join(words, " ")),
                .expected_exit_code = expected};
    if (interrupted()) {
      proof.problem = "it was interrupted before";
      proofs_.push_back(proof);
      return false;
    }
    const auto start = std::chrono::steady_clock::now();
    const CommandResult result = command(words, seconds, variables);
    proof.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    proof.exit_code = exit_code_of(result);
    proof.n = 1;
    // The text for PyTorch starts no process: it ends as the failure ends it.
    const bool died = kind_ == Kind::python && expected != 0 && !result.timed_out &&
                      std::holds_alternative<Signaled>(result.termination);
    proof.held = died || proof.exit_code == expected;
    proof.k = proof.held ? 1 : 0;
    if (!proof.held) proof.problem = in_words(result);
    proofs_.push_back(proof);
    return proof.held;
  }

  bool build(const Runner& runner) {
    return try_arm("build", "compiled with " + runner.with + ", warnings as errors", runner.compile,
                   0, {}, request_.build_seconds);
  }

  std::string profile(const std::string& name) const {
    return (request_.data / "profiles" / (name + ".json")).string();
  }

  std::string why_no_device() const {
    const Cell& cell = request_.what.cell;
    if (cell.backend != Backend::mps || kApple || request_.simulated) return "";
    return "this machine has no MPS device";
  }

  /// Puts the simulated device under what runs on LibTorch.
  void preload(Runner& runner) const {
    if (!request_.simulated) return;
    // A program that asks for mps gets it from the stand-in.
    const char* const name =
        request_.what.cell.backend == Backend::mps ? "libmpsprobe_stand_in" : "libmpsprobe_sim";
    const fs::path library = request_.libraries / (name + std::string(kSuffix));
    if (!fs::exists(library)) {
      runner.why_not = library.string() + " is missing: build it with LibTorch, or install it";
    }
    runner.variables[kPreload] = library.string();
    runner.how = "the simulated device preloaded";
  }

  std::optional<Runner> libtorch() {
    if (request_.library.empty() || !fs::exists(request_.library)) {
      untried("build", "the LibTorch of the failing trials is not known or not there any more");
      return std::nullopt;
    }
    const fs::path lib = request_.library.parent_path();
    const std::string include = (lib.parent_path() / "include").string();
    const std::string program = (folder_ / "reproducer").string();
    Runner runner{.compile = words_in("c++ -std=c++20 -O1 -Wall -Wextra -Werror"),
                  .with = "c++ and the LibTorch of the worker",
                  .run = {program}};
    runner.compile.insert(
        runner.compile.end(),
        {"-isystem", include, "-isystem", include + "/torch/csrc/api/include",
         (folder_ / "reproducer.cpp").string(), "-o", program, "-L" + lib.string(),
         "-Wl,-rpath," + lib.string(), "-ltorch_cpu", "-lc10"});
    if (!kApple) {
      // A build for CUDA needs libraries that the worker found by other means.
      runner.compile.insert(runner.compile.end(),
                            {"-lpthread", "-Wl,--unresolved-symbols=ignore-in-shared-libs"});
    }
    runner.why_not = why_no_device();
    preload(runner);
    return runner;
  }

  // A program that takes a file of theirs, by the interpreter of the trials.
  Runner own_code() const {
    Runner runner{.run = {request_.interpreter, program_text()}};
    for (const std::string& each : request_.environment) {
      const size_t equals = each.find('=');
      runner.variables[each.substr(0, equals)] =
          equals == std::string::npos ? "" : each.substr(equals + 1);
    }
    if (!beside_.empty() && !runner.variables.contains("PYTHONPATH")) {
      const char* const inherited = std::getenv("PYTHONPATH");
      runner.variables["PYTHONPATH"] =
          beside_.string() + (inherited == nullptr ? "" : std::string(":") + inherited);
    }
    return runner;
  }

  std::string program_text() const { return (folder_ / "reproducer.py").string(); }

  std::optional<Runner> python() {
    if (!request_.interpreter.empty()) return own_code();
    if (!try_arm("text", "compiled by python3",
                 {"python3", "-c", "import sys; compile(open(sys.argv[1]).read(), 'p', 'exec')",
                  program_text()},
                 0, {}, request_.build_seconds)) {
      return std::nullopt;
    }
    Runner runner{.run = {"python3", program_text()}, .why_not = why_no_device()};
    const CommandResult import =
        command({"python3", "-c", "import torch"}, request_.build_seconds, {});
    if (exit_code_of(import) != 0) {
      runner.why_not = "python3 has no torch that can be imported here: " + in_words(import);
    }
    preload(runner);
    return runner;
  }

  // The folder mlx/ of the release that the worker loaded; empty where it is not there.
  fs::path mlx_root() {
    if (!request_.library.empty() && fs::exists(request_.library)) {
      return request_.library.parent_path().parent_path();
    }
    untried("build", "the MLX of the failing trials is not known or not there any more");
    return {};
  }

  std::optional<Runner> mlx() {
    const fs::path root = mlx_root();
    if (root.empty()) return std::nullopt;
    const std::string program = (folder_ / "reproducer").string();
    const std::string lib = (root / "lib").string();
    Runner runner{.compile = words_in("c++ -std=c++20 -O1 -Wall -Wextra -Werror"),
                  .with = "c++ and the MLX of the worker",
                  .run = {program}};
    runner.compile.insert(
        runner.compile.end(),
        {"-isystem", (root / "include").string(), (folder_ / "reproducer.cpp").string(), "-o",
         program, "-L" + lib, "-Wl,-rpath," + lib, "-lmlx"});
    if (!kApple) {
      const fs::path beside = root.parent_path() / "mlx_cpu.libs";
      runner.compile.insert(runner.compile.end(), {"-lpthread", "-Wl,--allow-shlib-undefined",
                                                   "-Wl,-rpath-link," + beside.string()});
    }
    return runner;
  }

  std::optional<Runner> mlx_python() {
    const fs::path root = mlx_root();
    if (root.empty()) return std::nullopt;
    // The package is of one Python's ABI; its own Python may not be the one that runs here.
    Runner runner{.run = {"python3", program_text()},
                  .variables = {{"PYTHONPATH", root.parent_path().string()}}};
    const CommandResult import = command({"python3", "-c", "import mlx.core as mx; mx.array(0)"},
                                         request_.build_seconds, runner.variables);
    if (exit_code_of(import) != 0) {
      runner.why_not = "python3 cannot import that MLX here: " + in_words(import);
    }
    return runner;
  }

  std::optional<Runner> metal() {
    const std::string source = (folder_ / "reproducer.mm").string();
    const std::string program = (folder_ / "reproducer").string();
    Runner runner{.compile = {"clang++", "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", source,
                              "-o", program},
                  .with = "clang++ against the simulated device's face",
                  .run = {program},
                  .how = "the simulated device's face"};
    Words& words = runner.compile;
    if (kApple) {
      runner.with = "clang++";
      runner.how = "";
      words.insert(words.end(), {"-fobjc-arc", "-Wno-unguarded-availability-new"});
      for (const char* framework : {"Foundation", "CoreGraphics", "Metal",
                                    "MetalPerformanceShaders", "MetalPerformanceShadersGraph"}) {
        words.insert(words.end(), {"-framework", framework});
      }
      if (request_.simulated) runner.why_not = "the simulated device's face exists on Linux alone";
      return runner;
    }
    if (!request_.simulated) runner.why_not = "this machine has no Metal device";
    const fs::path face = request_.libraries / "libmpsprobe_metal_face.so";
    const fs::path headers = request_.data / "frameworks";
    if (!fs::exists(face) || !fs::exists(headers)) {
      untried(
          "build",
          fmt::format("{} or {} is missing: build mpsprobe where clang and GNUstep are installed",
                      face.string(), headers.string()));
      return std::nullopt;
    }
    const CommandResult asked =
        command({"gcc", "-print-file-name=libobjc.so"}, request_.build_seconds, {});
    const fs::path objc = fs::path(asked.out.substr(0, asked.out.find('\n'))).parent_path();
    const Words of_gnustep = words_in(
        "-fblocks -fobjc-runtime=gcc -fconstant-string-class=NSConstantString -fobjc-exceptions "
        "-isystem /usr/include/GNUstep -lmpsprobe_metal_face -lBlocksRuntime "
        "-lgnustep-base -lobjc -lpthread");
    // Our headers before those of GNUstep.
    words.insert(words.end(), {"-isystem", (request_.data / "gnustep").string(), "-isystem",
                               (objc / "include").string(), "-iframework", headers.string(),
                               "-L" + request_.libraries.string(),
                               "-Wl,-rpath," + request_.libraries.string(), "-L" + objc.string()});
    words.insert(words.end(), of_gnustep.begin(), of_gnustep.end());
    return runner;
  }

  bool interrupted() const {
    return request_.interrupted != nullptr && request_.interrupted->load();
  }

  const ProofRequest& request_;
  const Variables of_cell_ = parse_variables(request_.what.cell.env);
  Kind kind_ = Kind::mpsprobe;
  fs::path folder_;
  fs::path beside_;      ///< of somebody's own code
  std::string written_;  ///< the program that lies in the folder, built
  std::vector<Emission> emissions_;
  std::vector<Proof> proofs_;
};

}  // namespace

Proved prove(const ProofRequest& request) {
  fs::create_directories(request.work);
  return Prover(request).all();
}

}  // namespace mpsprobe
