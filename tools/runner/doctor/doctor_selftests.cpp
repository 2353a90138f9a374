#include <fmt/format.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/executor/executor.h"
#include "harness/input/json_shape.h"
#include "harness/platform/device_class.h"
#include "harness/wire/axis.h"
#include "reports/words/safe_text.h"
#include "tools/runner/doctor/doctor_check.h"
#include "tools/runner/run/plan_campaign.h"
#include "tools/runner/workers/workers.h"

namespace mpsprobe {
namespace {

using nlohmann::json;

// Of one cell on a device, which may have to compile its kernels first.
constexpr double kDeviceSeconds = 12;

/// What is planted, and what has to come out.
struct Planted {
  const char* id;
  const char* what;
  const char* cell;
  Outcome outcome;
  const char* function;  ///< that has to be on top of the stack; "" where none is asked for
};

constexpr Planted kPlanted[] = {
    {"crash", "a planted crash is seen", "cpu/selftest.null_dereference/default/threads=2",
     Outcome::signal, "null_dereference"},
    {"hang", "a planted hang is seen", "cpu/selftest.deadlock/default/threads=2", Outcome::hang,
     ""},
    {"wrong_number", "a planted wrong number is seen",
     "cpu/selftest.wrong_numbers/default/threads=2", Outcome::wrong_result, ""},
};

bool has_operation(const WorkerInfo& worker, const std::string& name) {
  return operations_from(worker.describe).contains(name);
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

std::string top_of_stack(const TrialRecord& trial) {
  const auto& stacks = trial.processes.at(static_cast<size_t>(trial.judged_process)).stacks.threads;
  if (stacks.empty() || stacks.front().frames.empty()) return "no stack was taken";
  const StackFrame& top = stacks.front().frames.front();
  if (top.function.empty()) return fmt::format("{} + {:#x}, without a name", top.image, top.offset);
  return top.function + (top.source.empty() ? "" : " at " + top.source);
}

std::string known_good_of(const WorkerInfo& worker) {
  const std::string named = text_at(worker.describe, "known_good");
  return named.empty() ? "mm" : named;
}

/// What one cell says of the numbers that a device computes, with a remedy. `command` runs the cell
/// again.
std::pair<CheckStatus, std::string> judge_numbers(const TrialRecord& trial, bool paravirtual,
                                                  const std::string& command) {
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
    case Outcome::unsupported:
    case Outcome::refused:
      return {CheckStatus::warn, "not known whether it computes right: " + command};
    default:
      return {
          CheckStatus::fail,
          "one thread fails already: restart the machine if the device is sick, then " + command};
  }
  uint64_t checked = 0;
  for (const ProcessRecord& process : trial.processes) {
    if (process.result.has_value()) checked += process.result->checked;
  }
  if (checked > 0) return {CheckStatus::ok, ""};
  return {CheckStatus::warn,
          "it ran, and no number was compared: the worker must count them in `checked` "
          "(docs/protocol.md)"};
}

class Trials {
 public:
  Trials(const DoctorOptions& options, Checks& checks) : options_(options), checks_(checks) {}

  void run(const WorkerInfo& worker, Backend backend) {
    for (const Backend each : std::set{backend, Backend::mps, Backend::metal}) {
      check_numbers(worker, each);
    }
    for (const Planted& planted : kPlanted) run_planted(worker, planted);
  }

 private:
  void add(const WorkerInfo& worker, const std::string& id, CheckStatus status,
           const std::string& what, const std::string& value, const std::string& remedy = "") {
    checks_.push_back({fmt::format("run.{}.{}", worker.name, id), "trials", status,
                       fmt::format("{}: {}", worker.name, what), value,
                       status == CheckStatus::ok ? "" : remedy});
  }

  /// The command that runs a cell again on the same worker, in the same environment.
  std::string again(const WorkerInfo& worker, const Cell& cell) const {
    std::vector<std::string> words{options_.command_line.front(), "run", "--cell", to_string(cell)};
    if (!options_.workers.empty()) {
      words.insert(words.end(), {"--worker", worker.name + "=" + worker.path});
    }
    for (const std::string& variable : asked_environment(options_)) {
      words.insert(words.end(), {"--env", variable});
    }
    return shell_command(words);
  }

  TrialRecord run_cell(const WorkerInfo& worker, const Cell& cell, double stall) {
    ChildLimits limits;
    limits.timeout = kDeviceSeconds;
    limits.stall = stall;
    limits.grace = 0.5;
    limits.reap = 1;
    static const std::atomic<bool> never{false};
    TrialRequest request;
    request.worker = &worker;
    request.cell = cell;
    request.seed = 1;
    return Executor(limits, asked_environment(options_), never).run(request);
  }

  /// A device that is there may compute nothing, or wrong numbers. Products come from Apple's
  /// kernels and sums from LibTorch's own, and a virtual machine's device has been seen to fail in
  /// one kind alone: so both are compared with the CPU's.
  void check_numbers(const WorkerInfo& worker, Backend backend) {
    const json entry = backend_told(worker, backend);
    if (entry.is_null()) return;
    const std::string id = fmt::format("computes.{}", name_of(backend));
    const std::string what = fmt::format("{} computes right numbers", name_of(backend));
    const std::string missing = why_unavailable({worker}, backend);
    const bool wanted = options_.backend.empty() || options_.backend == name_of(backend);
    if (!wanted || !missing.empty()) {
      add(worker, id, CheckStatus::not_applicable, what,
          wanted ? "there is no device: " + missing : "not asked: --backend " + options_.backend);
      return;
    }
    const bool paravirtual = names_paravirtual(text_at(entry, "device"));
    std::string equal;
    for (const std::string& operation : {known_good_of(worker), std::string("add")}) {
      if (!has_operation(worker, operation) || equal == operation) continue;
      Cell cell;
      cell.backend = backend;
      cell.op = operation;
      cell.iterations = 1;
      const TrialRecord trial = run_cell(worker, cell, kDeviceSeconds);
      const auto [status, remedy] = judge_numbers(trial, paravirtual, again(worker, cell));
      if (status != CheckStatus::ok) {
        add(worker, id, status, what,
            fmt::format("{}: {}{}", operation, came_to(trial), said(trial)), remedy);
        return;
      }
      equal += (equal.empty() ? "" : " and ") + operation;
    }
    add(worker, id, ok_or_warn(!equal.empty()), what,
        equal.empty() ? "not known: it has neither mm nor add" : "yes: " + equal + " as on the CPU",
        "name a worker that has them with --worker");
  }

  void run_planted(const WorkerInfo& worker, const Planted& planted) {
    const Cell cell = parse_cell(planted.cell);
    if (!why_unavailable({worker}, cell.backend).empty() || !has_operation(worker, cell.op)) {
      add(worker, planted.id, CheckStatus::not_applicable, planted.what, "it has no " + cell.op);
      return;
    }
    const TrialRecord trial = run_cell(worker, cell, 1);
    const bool seen = trial.judgement.outcome == planted.outcome;
    add(worker, planted.id, seen ? CheckStatus::ok : CheckStatus::fail, planted.what,
        came_to(trial),
        "failures of this kind are not told truly here; look at: " + again(worker, cell));
    if (!seen || *planted.function == '\0') return;
    const std::string top = top_of_stack(trial);
    add(worker, std::string(planted.id) + "_stack",
        ok_or_warn(top.find(planted.function) != std::string::npos), "its stack names the function",
        top,
        "signatures say less here: keep the symbols of worker and LibTorch (no strip), and build "
        "the worker anew");
  }

  const DoctorOptions& options_;
  Checks& checks_;
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
