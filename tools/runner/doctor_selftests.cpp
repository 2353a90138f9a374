#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>

#include "harness/executor/executor.h"
#include "tools/runner/doctor_check.h"
#include "tools/runner/workers.h"

namespace mpsprobe {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr double kMostSeconds = 12;

/// What is planted, and what has to come out.
struct Planted {
  const char* id;
  const char* what;
  const char* cell;
  Outcome outcome;
  const char* detail;    ///< "" for any
  const char* function;  ///< that has to be on top of the stack; "" where none is asked for
};

constexpr Planted kPlanted[] = {
    {"crash", "a planted crash is seen", "cpu/selftest.null_dereference/default/threads=2",
     Outcome::signal, "SIGSEGV", "null_dereference"},
    {"hang", "a planted hang is seen", "cpu/selftest.deadlock/default/threads=2", Outcome::hang, "",
     ""},
    {"wrong_number", "a planted wrong number is seen",
     "cpu/selftest.wrong_numbers/default/threads=2", Outcome::wrong_result, "", ""},
};

bool has_operation(const WorkerInfo& worker, const std::string& name) {
  for (const json& operation : worker.describe.at("operations")) {
    if (operation.value("name", json()) == json(name)) return true;
  }
  return false;
}

bool has_backend(const WorkerInfo& worker, Backend backend) {
  return why_unavailable({worker}, backend).empty();
}

std::string came_to(const TrialRecord& trial) {
  std::string text(name_of(trial.judgement.outcome));
  if (!trial.judgement.detail.empty()) text += " " + trial.judgement.detail;
  return fmt::format("{}, {:.1f} s", text, trial.seconds);
}

class Trials {
 public:
  Trials(const DoctorOptions& options, Checks& checks)
      : options_(options), checks_(checks), start_(Clock::now()) {}

  void run(const WorkerInfo& worker, Backend backend) {
    run_known_good(worker, backend);
    for (const Planted& planted : kPlanted) run_planted(worker, planted);
  }

 private:
  void add(const WorkerInfo& worker, const std::string& id, CheckStatus status,
           const std::string& what, const std::string& value, const std::string& remedy = "") {
    checks_.push_back({fmt::format("run.{}.{}", worker.name, id), "trials", status,
                       fmt::format("{}: {}", worker.name, what), value, remedy});
  }

  double left() const {
    return kMostSeconds - std::chrono::duration<double>(Clock::now() - start_).count();
  }

  TrialRecord run_cell(const WorkerInfo& worker, const Cell& cell, double stall) {
    ChildLimits limits;
    limits.timeout = std::max(left(), 1.0);
    limits.stall = stall;
    limits.grace = 0.5;
    limits.reap = 1;
    static const std::atomic<bool> never{false};
    TrialRequest request;
    request.worker = &worker;
    request.cell = cell;
    request.seed = 1;
    return Executor(limits, extra_environment(options_), never).run(request);
  }

  void run_known_good(const WorkerInfo& worker, Backend backend) {
    const json named = worker.describe.value("known_good", json("mm"));
    const std::string operation = named.is_string() ? named.get<std::string>() : "mm";
    if (!has_backend(worker, backend) || !has_operation(worker, operation)) {
      add(worker, "known_good", CheckStatus::not_applicable, "the known-good cell passes",
          fmt::format("it has no {} on {}", operation, name_of(backend)));
      return;
    }
    Cell cell;
    cell.backend = backend;
    cell.op = operation;
    cell.iterations = 1;
    const TrialRecord trial = run_cell(worker, cell, kMostSeconds);
    const bool passed = trial.judgement.outcome == Outcome::pass;
    std::string why;
    for (const ProcessRecord& process : trial.processes) {
      if (!process.failures.empty()) why = ": " + process.failures.front().text;
    }
    add(worker, "known_good", passed ? CheckStatus::ok : CheckStatus::fail,
        to_string(cell) + " passes", came_to(trial) + (passed ? "" : why),
        passed ? ""
               : fmt::format("one thread fails already: restart the machine if the device is sick, "
                             "then mpsprobe run --cell {}",
                             to_string(cell)));
  }

  void run_planted(const WorkerInfo& worker, const Planted& planted) {
    const Cell cell = parse_cell(planted.cell);
    if (!has_backend(worker, cell.backend) || !has_operation(worker, cell.op)) {
      add(worker, planted.id, CheckStatus::not_applicable, planted.what, "it has no " + cell.op);
      return;
    }
    if (left() < 2) {
      add(worker, planted.id, CheckStatus::warn, planted.what, "not run: the time is used up",
          "name fewer workers at once");
      return;
    }
    const TrialRecord trial = run_cell(worker, cell, 1);
    const bool seen = trial.judgement.outcome == planted.outcome &&
                      (*planted.detail == '\0' || trial.judgement.detail == planted.detail);
    add(worker, planted.id, seen ? CheckStatus::ok : CheckStatus::fail, planted.what,
        came_to(trial),
        seen ? ""
             : fmt::format("failures of this kind are not told truly here; look at: mpsprobe run "
                           "--cell {}",
                           planted.cell));
    if (seen && *planted.function != '\0') check_stack(worker, planted, trial);
  }

  void check_stack(const WorkerInfo& worker, const Planted& planted, const TrialRecord& trial) {
    const std::string id = std::string(planted.id) + "_stack";
    const std::string what = "its stack names the function";
    const auto& stacks =
        trial.processes.at(static_cast<size_t>(trial.judged_process)).stacks.threads;
    if (stacks.empty() || stacks.front().frames.empty()) {
      add(worker, id, CheckStatus::warn, what, "no stack was taken",
          "the worker has no crash handler, or it could not run: signatures then rest on the place "
          "alone");
      return;
    }
    const StackFrame& top = stacks.front().frames.front();
    if (top.function.find(planted.function) != std::string::npos) {
      add(worker, id, CheckStatus::ok, what,
          top.source.empty() ? top.function : top.function + " at " + top.source);
    } else if (top.function.empty()) {
      add(worker, id, CheckStatus::warn, what,
          fmt::format("{} + {:#x}, without a name", top.image, top.offset),
          "keep the symbols of worker and LibTorch (no strip): signatures then say more than "
          "module and offset");
    } else {
      add(worker, id, CheckStatus::fail, what, top.function + " is on top",
          fmt::format("expected is {}: stacks cannot be trusted here; was the worker built anew "
                      "meanwhile?",
                      planted.function));
    }
  }

  const DoctorOptions& options_;
  Checks& checks_;
  Clock::time_point start_;
};

}  // namespace

void check_by_running(const DoctorOptions& options, const std::vector<WorkerInfo>& workers,
                      Checks& checks) {
  if (workers.empty()) {
    checks.push_back({"run.none", "trials", CheckStatus::fail, "known-good cell and self-tests",
                      "not run: no worker answers", "see the first lines"});
    return;
  }
  const Backend backend = options.backend.empty()
                              ? best_backend(workers)
                              : parse_cell(options.backend + "/mm/default").backend;
  Trials trials(options, checks);
  for (const WorkerInfo& worker : workers) trials.run(worker, backend);
}

}  // namespace mpsprobe
