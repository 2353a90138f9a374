#include "reproducers/proof/proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <utility>
#include <variant>

#include "harness/folder/folder.h"
#include "harness/statistics/interval.h"
#include "reproducers/proof/toolchain.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;
using Clock = std::chrono::steady_clock;

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
/// Attempts of a program that ends with the first of them that hangs.
constexpr int kAttemptsToHang = 20;
constexpr int kShortest = 10;  ///< seconds of the shortest limit
constexpr double kTimesTheFastest = 3;
/// Rounds of threads in one process, as the other of two forms.
constexpr int kManyRounds = 50;

/// A simpler form is taken where it fails at least so often, beside the best one.
constexpr double kNearly = 0.9;
/// Whoever gets the program has another machine, or this one is busier then: a race that was seen
/// in 30 of 40 attempts was seen in 4 of 20 an hour later, beside six builds.
constexpr double kElsewhere = 0.5;
constexpr double kSecondsOfAll = 5;

/// How often attempts failed.
struct Rate {
  int failed = 0, attempts = 0;
  double seconds = 0;
  double fastest = 1e9;  ///< seconds of the shortest attempt
  double value() const { return attempts == 0 ? 0 : static_cast<double>(failed) / attempts; }
};

/// Of the program of one kind.
class Prover {
 public:
  Prover(const ProofRequest& request, Emission emission)
      : request_(request),
        what_(request.what),
        program_(std::move(emission)),
        folder_(request.work / std::string(name_of(program_.kind))) {}

  /// The program in the form that fails most often, or why there is none.
  Emission proved() {
    if (!program_.possible()) {
      untried(ProofArm::build, "there is no such program for this cell: " + program_.why_not);
      return program_;
    }
    Emission as_it_was = program_;
    tools_ = toolchain_for(program_, request_, folder_);
    if (!tools_.no_build.empty()) {
      untried(ProofArm::build, tools_.no_build);
      return program_;
    }
    what_.form.attempts = 1;
    if (!remake()) return as_it_was;
    if (!tools_.no_run.empty()) {
      untried(ProofArm::failing, tools_.no_run);
      return as_it_was;
    }
    failing_ = on_profile(what_.cell.profile);
    choose_form();
    if (interrupted() || !remake() || !fails_again()) return why_not_.empty() ? as_it_was : none();
    if (!request_.simulated && !passes_alone()) return none();
    if (!remake()) return program_;
    if (request_.simulated) {
      try_arm(ProofArm::clean, "run with " + tools_.how + ", without a defect", tools_.run, 0,
              on_profile("clean"), request_.run_seconds);
    }
    try_arm(ProofArm::failing,
            tools_.how.empty()
                ? "run as it is on this machine"
                : fmt::format("run with {}, profile {}", tools_.how, what_.cell.profile),
            tools_.run, 1, failing_, request_.run_seconds);
    return program_;
  }

  const std::vector<Proof>& proofs() const { return proofs_; }

 private:
  void untried(ProofArm arm, const std::string& problem) {
    add({.kind = program_.kind, .arm = arm, .what = "nothing", .problem = problem});
  }

  void add(Proof proof) {
    proofs_.push_back(std::move(proof));
    if (request_.on_proof) request_.on_proof(proofs_.back());
  }

  Emission none() {
    program_.files.clear();
    program_.why_not = why_not_;
    return program_;
  }

  Variables on_profile(const std::string& name) const {
    Variables variables = tools_.variables;
    if (request_.simulated) {
      variables["MPSPROBE_SIM_PROFILE"] = (request_.data / "profiles" / (name + ".json")).string();
    }
    return variables;
  }

  /// The rate of the chosen form, by which the program's attempts are chosen.
  bool fails_again() {
    const bool hangs = what_.outcome == Outcome::hang;
    const Rate rate = rate_of(kAttempts, hangs ? kHangs : kFailures, request_.run_seconds);
    if (rate.attempts == 0) return false;
    ProgramForm& form = what_.form;
    Proof proof{.kind = program_.kind,
                .arm = ProofArm::rate,
                .what = "attempts that failed, a process " +
                        (form.rounds == 1 ? "each" : fmt::format("of {} rounds each", form.rounds)),
                .k = rate.failed,
                .n = rate.attempts,
                .seconds = rate.seconds,
                .held = rate.failed > 0 && rate.failed == rate.attempts};
    if (rate.failed > 0) {
      // The lower end of the interval is exact for both rules to stop.
      form.attempts = attempts_for(kElsewhere * exact_interval(rate.failed, rate.attempts).low,
                                   hangs ? kAttemptsToHang : 300);
      const double each = rate.seconds / rate.attempts;
      // Of a real library more, where they cost nothing.
      if (!request_.simulated && !hangs) {
        form.attempts =
            std::max(form.attempts, std::min(300, static_cast<int>(kSecondsOfAll / each)));
      }
      const double passing = rate.failed < rate.attempts ? rate.fastest : 0;
      form.seconds = hangs ? rate.seconds + form.attempts * passing : form.attempts * each;
      proof.program = form;
    } else {
      why_not_ = fmt::format("it did not fail in {} attempts here", rate.attempts);
    }
    add(proof);
    return rate.failed > 0;
  }

  /// A program that cannot run at all fails too, and so does what needs no threads.
  bool passes_alone() {
    if (what_.cell.threads == 1) return true;
    const EmissionRequest chosen = what_;
    what_.cell.threads = 1;
    what_.form.attempts = 1;
    Rate rate{.failed = 1};
    if (remake()) rate = rate_of(kAlone, 1, request_.run_seconds);
    what_ = chosen;
    why_not_ = rate.failed > 0
                   ? "it fails with one thread as well here: threads are not what it needs"
                   : "";
    add({.kind = program_.kind,
         .arm = ProofArm::alone,
         .what = "attempts with one thread",
         .k = std::max(0, rate.attempts - rate.failed),
         .n = rate.attempts,
         .seconds = rate.seconds,
         .held = rate.attempts > 0 && rate.failed == 0,
         .problem = why_not_});
    return rate.failed == 0;
  }

  /// The plainest, where it nearly always fails. Else first who makes what before the threads meet,
  /// in processes of many rounds, where a difference shows soonest; then one round a process, which
  /// is simpler, where that fails nearly as often.
  void choose_form() {
    ProgramForm& form = what_.form;
    if (what_.outcome == Outcome::hang) {
      form.limit = kShortest;
      return;
    }
    std::map<std::string, Rate> rates;
    const auto rate_now = [&] {
      // What the cell has not makes no difference: then it is the same program.
      const auto [at, is_new] = rates.try_emplace(emission_now().files.at(0).text);
      if (is_new && remake())
        at->second = rate_of(kAttemptsOfForm, kFailuresOfForm, kSecondsOfForm);
      return at->second;
    };
    const Rate plain = rate_now();
    if (plain.value() >= kNearly) return;  // none can fail so much oftener
    // So long that one which takes it hangs, and no longer: a race may also end so.
    form.limit = static_cast<int>(
        std::clamp(kTimesTheFastest * kManyRounds * plain.fastest, 1.0 * kShortest, 60.0));
    form.rounds = kManyRounds;
    double best = -1;
    ProgramForm chosen = form;
    for (const auto& [inputs, stream] :
         {std::pair(true, false), std::pair(true, true), std::pair(false, true)}) {
      form.inputs_first = inputs;
      form.stream_first = stream;
      if (interrupted()) break;
      const double rate = rate_now().value();
      if (rate > best) chosen = form;
      best = std::max(best, rate);
    }
    form = chosen;
    form.rounds = 1;
    if (rate_now().value() < kNearly * best) form = chosen;
  }

  /// Of attempts of the program as it lies there, until so many have failed or so long.
  Rate rate_of(int most, int enough, double most_seconds) const {
    Words once = tools_.run;
    once.emplace_back("once");
    Rate rate;
    while (rate.attempts < most && rate.failed < enough && rate.seconds < most_seconds &&
           !interrupted()) {
      const Clock::time_point start = Clock::now();
      const CommandResult result = run_for(request_, once, request_.run_seconds, failing_);
      const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      rate.seconds += seconds;
      rate.fastest = std::min(rate.fastest, seconds);
      ++rate.attempts;
      // What it prints of a GPU's error is no failure of the process.
      const bool printed =
          what_.outcome == Outcome::gpu_error &&
          (result.out + result.err).find("exited with error status") != std::string::npos;
      if (printed || exit_code_of(result) != 0) ++rate.failed;
    }
    return rate;
  }

  Emission emission_now() const {
    for (Emission& each : emit(what_)) {
      if (each.kind == program_.kind) return std::move(each);
    }
    return {};
  }

  /// Whether the program of what is wanted now lies there, built.
  bool remake() {
    program_ = emission_now();
    if (program_.files.empty()) return false;
    if (program_.files.front().text == built_) return true;
    write();
    built_.clear();
    const Words build{"sh", "-c", "cd \"$0\"; " + tools_.build, folder_.string()};
    const bool is_first = proofs_.empty();
    const bool built =
        tools_.build.empty() ||
        (is_first
             ? try_arm(ProofArm::build, "compiled with " + tools_.with + ", warnings as errors",
                       build, 0, {}, request_.build_seconds)
             : exit_code_of(run_for(request_, build, request_.build_seconds, {})) == 0);
    if (built) built_ = program_.files.front().text;
    return built;
  }

  void write() const {
    const Folder folder = Folder::made(folder_);
    for (const EmittedFile& file : program_.files) {
      NewFile out(folder, file.name);
      if (out.is_open() && out.write(file.text) && out.sync() && out.replace()) continue;
      throw fs::filesystem_error("cannot be written", folder_ / file.name,
                                 std::error_code(errno, std::generic_category()));
    }
  }

  bool try_arm(ProofArm arm, const std::string& what, const Words& words, int expected,
               const Variables& variables, double seconds) {
    Proof proof{.kind = program_.kind, .arm = arm, .what = what};
    if (interrupted()) {
      proof.problem = "it was interrupted before";
      add(proof);
      return false;
    }
    const Clock::time_point start = Clock::now();
    const CommandResult result = run_for(request_, words, seconds, variables);
    proof.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    proof.n = 1;
    // The text for PyTorch starts no process: it ends as the failure ends it.
    const bool died = program_.kind == Kind::python && expected != 0 && !result.timed_out &&
                      std::holds_alternative<Signaled>(result.termination);
    proof.held = died || exit_code_of(result) == expected;
    proof.k = proof.held ? 1 : 0;
    if (!proof.held) proof.problem = in_words(result);
    add(proof);
    return proof.held;
  }

  bool interrupted() const {
    return request_.interrupted != nullptr && request_.interrupted->load();
  }

  const ProofRequest& request_;
  EmissionRequest what_;  ///< with the form and the threads that are tried now
  Emission program_;
  fs::path folder_;
  Toolchain tools_;
  Variables failing_;  ///< with which it should fail
  std::string built_;  ///< the program that lies in the folder, built
  std::string why_not_;
  std::vector<Proof> proofs_;
};

}  // namespace

Proved prove(const ProofRequest& request) {
  fs::create_directories(request.work);
  Proved all;
  for (Emission& emission : emit(request.what)) {
    const auto& kinds = request.kinds;
    if (!kinds.empty() && std::find(kinds.begin(), kinds.end(), emission.kind) == kinds.end()) {
      continue;
    }
    Prover prover(request, std::move(emission));
    all.emissions.push_back(prover.proved());
    all.proofs.insert(all.proofs.end(), prover.proofs().begin(), prover.proofs().end());
  }
  return all;
}

}  // namespace mpsprobe
