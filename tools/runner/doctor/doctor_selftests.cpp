#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>

#include "harness/executor/executor.h"
#include "harness/platform/device_class.h"
#include "harness/wire/axis.h"
#include "reports/words/safe_text.h"
#include "tools/runner/doctor/doctor_check.h"
#include "tools/runner/workers/workers.h"

namespace mpsprobe {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

// Of all planted failures of all workers together.
constexpr double kMostSeconds = 12;
// Of one cell on a device, which may have to compile its kernels first.
constexpr double kDeviceSeconds = 12;

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

/// What a process said of its failure, after a colon.
std::string said(const TrialRecord& trial) {
  for (const ProcessRecord& process : trial.processes) {
    if (!process.failures.empty()) return ": " + process.failures.front().text;
  }
  return "";
}

std::string restart_and_run(const std::string& command) {
  return "one thread fails already: restart the machine if the device is sick, then " + command;
}

const json* described(const WorkerInfo& worker, Backend backend) {
  for (const json& entry : worker.describe.at("backends")) {
    if (entry.at("name") == name_of(backend)) return &entry;
  }
  return nullptr;
}

bool lists_backend(const WorkerInfo& worker, Backend backend) {
  return described(worker, backend) != nullptr;
}

bool is_paravirtual(const WorkerInfo& worker, Backend backend) {
  const json* entry = described(worker, backend);
  const json device = entry == nullptr ? json() : entry->value("device", json());
  return device.is_string() && names_paravirtual(device.get<std::string>());
}

std::string known_good_of(const WorkerInfo& worker) {
  const json named = worker.describe.value("known_good", json("mm"));
  return named.is_string() ? named.get<std::string>() : "mm";
}

/// One thread, one iteration.
Cell single(Backend backend, const std::string& operation) {
  Cell cell;
  cell.backend = backend;
  cell.op = operation;
  cell.iterations = 1;
  return cell;
}

/// What one cell says of the numbers that a device computes.
struct NumbersSeen {
  CheckStatus status = CheckStatus::ok;
  std::string remedy;
};

/// `command` runs the cell again.
NumbersSeen judge_numbers(const TrialRecord& trial, bool paravirtual, const std::string& command) {
  const std::string elsewhere =
      paravirtual ? "a virtual machine's device often does; run on a Mac that is no virtual machine"
                  : "restart the machine, then try another release of macOS and of LibTorch";
  switch (trial.judgement.outcome) {
    case Outcome::pass:
      break;
    case Outcome::wrong_result:
      return {CheckStatus::fail,
              "it computes, and computes wrong, in one thread: nothing that it passes or fails "
              "says anything about threads. " +
                  elsewhere};
    case Outcome::hang:
      return {CheckStatus::fail, "it takes work and does not end it, in one thread: " + elsewhere};
    case Outcome::unsupported:
    case Outcome::refused:
      return {CheckStatus::warn, "not known whether it computes right: " + command};
    case Outcome::setup_failed:
    case Outcome::infrastructure:
    case Outcome::not_run:
      return {CheckStatus::fail,
              "nothing was computed, and not for a fault of the device: " + command};
    default:
      return {CheckStatus::fail, restart_and_run(command)};
  }
  uint64_t checked = 0;
  for (const ProcessRecord& process : trial.processes) {
    if (process.result.has_value()) checked += process.result->checked;
  }
  if (checked > 0) return {};
  return {CheckStatus::warn,
          "it ran, and no number was compared: the worker must count them in `checked` "
          "(docs/protocol.md)"};
}

class Trials {
 public:
  Trials(const DoctorOptions& options, Checks& checks) : options_(options), checks_(checks) {}

  void run(const WorkerInfo& worker, Backend backend) {
    if (backend != Backend::mps && backend != Backend::metal) run_known_good(worker, backend);
    for (const Backend gpu : {Backend::mps, Backend::metal}) check_numbers(worker, gpu);
    for (const Planted& planted : kPlanted) run_planted(worker, planted);
  }

 private:
  void add(const WorkerInfo& worker, const std::string& id, CheckStatus status,
           const std::string& what, const std::string& value, const std::string& remedy = "") {
    checks_.push_back({fmt::format("run.{}.{}", worker.name, id), "trials", status,
                       fmt::format("{}: {}", worker.name, what), value, remedy});
  }

  /// The command that runs a cell again on the same worker, in the same environment.
  std::string again(const WorkerInfo& worker, const std::string& cell) const {
    std::vector<std::string> words{options_.program, "run", "--cell", cell};
    if (!options_.workers.empty()) {
      words.insert(words.end(), {"--worker", worker.name + "=" + worker.path});
    }
    for (const std::string& variable : extra_environment(options_)) {
      words.insert(words.end(), {"--env", variable});
    }
    return shell_command(words);
  }

  double left() const { return kMostSeconds - spent_; }

  TrialRecord run_cell(const WorkerInfo& worker, const Cell& cell, double timeout, double stall) {
    ChildLimits limits;
    limits.timeout = timeout;
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

  TrialRecord run_on_device(const WorkerInfo& worker, Backend backend,
                            const std::string& operation) {
    return run_cell(worker, single(backend, operation), kDeviceSeconds, kDeviceSeconds);
  }

  void run_known_good(const WorkerInfo& worker, Backend backend) {
    const std::string operation = known_good_of(worker);
    if (!has_backend(worker, backend) || !has_operation(worker, operation)) {
      add(worker, "known_good", CheckStatus::not_applicable, "the known-good cell passes",
          fmt::format("it has no {} on {}", operation, name_of(backend)));
      return;
    }
    const TrialRecord trial = run_on_device(worker, backend, operation);
    const bool passed = trial.judgement.outcome == Outcome::pass;
    const std::string cell = to_string(trial.cell);
    add(worker, "known_good", passed ? CheckStatus::ok : CheckStatus::fail, cell + " passes",
        came_to(trial) + (passed ? "" : said(trial)),
        passed ? "" : restart_and_run(again(worker, cell)));
  }

  /// A device that is there may compute nothing, or wrong numbers. Products come from Apple's
  /// kernels and sums from LibTorch's own, and a virtual machine's device has been seen to fail in
  /// one kind alone: so both are compared with the CPU's.
  void check_numbers(const WorkerInfo& worker, Backend backend) {
    if (!lists_backend(worker, backend)) return;
    const std::string id = fmt::format("computes.{}", name_of(backend));
    const std::string what = fmt::format("{} computes right numbers", name_of(backend));
    const bool wanted = options_.backend.empty() || options_.backend == name_of(backend);
    if (!wanted || !has_backend(worker, backend)) {
      add(worker, id, CheckStatus::not_applicable, what,
          wanted ? "there is no device: " + why_unavailable({worker}, backend)
                 : "not asked: --backend " + options_.backend);
      return;
    }
    std::string equal;
    for (const std::string& operation : {known_good_of(worker), std::string("add")}) {
      if (!has_operation(worker, operation) || equal == operation) continue;
      const TrialRecord trial = run_on_device(worker, backend, operation);
      const NumbersSeen seen = judge_numbers(trial, is_paravirtual(worker, backend),
                                             again(worker, to_string(trial.cell)));
      if (seen.status != CheckStatus::ok) {
        const std::string more = trial.judgement.outcome == Outcome::pass ? "" : said(trial);
        add(worker, id, seen.status, what, fmt::format("{}: {}{}", operation, came_to(trial), more),
            seen.remedy);
        return;
      }
      equal += (equal.empty() ? "" : " and ") + operation;
    }
    if (equal.empty()) {
      add(worker, id, CheckStatus::warn, what, "not known: it has neither mm nor add",
          "name a worker that has them with --worker");
      return;
    }
    add(worker, id, CheckStatus::ok, what, "yes: " + equal + " as on the CPU");
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
    const Clock::time_point start = Clock::now();
    const TrialRecord trial = run_cell(worker, cell, std::max(left(), 1.0), 1);
    spent_ += std::chrono::duration<double>(Clock::now() - start).count();
    const bool seen = trial.judgement.outcome == planted.outcome &&
                      (*planted.detail == '\0' || trial.judgement.detail == planted.detail);
    add(worker, planted.id, seen ? CheckStatus::ok : CheckStatus::fail, planted.what,
        came_to(trial),
        seen ? ""
             : "failures of this kind are not told truly here; look at: " +
                   again(worker, planted.cell));
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
          fmt::format(
              "expected is {}: stacks cannot be trusted here; was the worker built anew meanwhile?",
              planted.function));
    }
  }

  const DoctorOptions& options_;
  Checks& checks_;
  double spent_ = 0;  ///< on planted failures
};

}  // namespace

void check_by_running(const DoctorOptions& options, const std::vector<WorkerInfo>& workers,
                      Checks& checks) {
  if (workers.empty()) {
    checks.push_back({"run.none", "trials", CheckStatus::fail, "known-good cell and self-tests",
                      "not run: no worker answers", "see the first lines"});
    return;
  }
  Trials trials(options, checks);
  for (const WorkerInfo& worker : workers) {
    trials.run(worker, options.backend.empty()
                           ? best_backend({worker}).value_or(Backend::cpu)
                           : parse_cell(options.backend + "/mm/default").backend);
  }
}

}  // namespace mpsprobe
