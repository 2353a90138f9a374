#include "harness/executor/executor.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/crash_report/find_report.h"
#include "harness/executor/environment.h"
#include "harness/executor/output_check.h"
#include "harness/input/json_shape.h"
#include "harness/input/json_text.h"
#include "harness/outcome/departed.h"
#include "harness/outcome/judge.h"
#include "harness/outcome/race_evidence.h"
#include "harness/stack/symboliser.h"
#include "harness/wire/loaded_library.h"

namespace mpsprobe {
namespace {

using Clock = Child::Clock;

double seconds_since(Clock::time_point when) {
  return std::chrono::duration<double>(Clock::now() - when).count();
}

using Children = std::vector<std::unique_ptr<Child>>;

void wait_for_news(const Children& children) {
  std::vector<pollfd> polled;
  int patience = 1000;
  for (const auto& child : children) {
    if (child->finished()) continue;
    child->add_to(polled);
    patience = std::min(patience, child->patience_ms());
  }
  // An interrupted poll is no error: the loop looks at everything anyway.
  poll(polled.data(), static_cast<nfds_t>(polled.size()), patience);
}

/// The crashes of processes that a command started, behind its own stacks.
void add_child_crashes(ProcessRecord& record, const std::vector<RecorderReading>& crashes,
                       Symboliser& symboliser) {
  for (const RecorderReading& crash : crashes) {
    StackEvidence evidence = stack_evidence(crash, symboliser);
    const std::string name = crash.threads.empty() ? "" : crash.threads.front().operation;
    const std::string words =
        fmt::format("{} {}: {}", name, crash.crash.thread_id, signal_name(crash.crash.signal));
    record.children += (record.children.empty() ? "" : ", ") + words;
    if (record.child_signal == 0) record.child_signal = crash.crash.signal;
    for (ThreadStack& stack : evidence.threads) {
      stack.thread = kChildProcess;
      stack.name = words;
      record.stacks.threads.push_back(std::move(stack));
    }
  }
}

/// With what an own command is not to print.
ChildLimits with_texts(ChildLimits limits, const std::vector<std::string>& environment) {
  if (const std::optional<OwnCommand> command = own_command_in(environment))
    limits.notice = command->fail_on_output;
  return limits;
}

}  // namespace

std::string utc_now() {
  using namespace std::chrono;
  const auto now = floor<milliseconds>(system_clock::now());
  const auto second = floor<seconds>(now);  // before 1970 too
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(system_clock::to_time_t(second)),
                     (now - second).count());
}

Executor::Executor(ChildLimits limits, std::vector<std::string> extra_environment,
                   const std::atomic<bool>& interrupted, CrashReports* crash_reports,
                   std::optional<StartProcess> start_process)
    : limits_(with_texts(std::move(limits), extra_environment)),
      extra_environment_(std::move(extra_environment)),
      inherited_(inherited_environment()),
      interrupted_(interrupted),
      crash_reports_(crash_reports),
      symboliser_(std::make_unique<Symboliser>()),
      starts_(std::make_unique<WorkerStarts>(limits_, start_process, interrupted_)) {
  if (std::optional<OwnCommand> command = own_command_in(extra_environment_))
    output_check_ = std::make_unique<OutputCheck>(*std::move(command));
}

Executor::~Executor() = default;

TrialRecord Executor::run(const TrialRequest& request) const {
  TrialRecord trial;
  trial.worker = request.worker->name;
  trial.cell = request.cell;
  trial.trial = request.trial;
  trial.seed = request.seed;
  trial.sequence = request.sequence;
  trial.before = request.before;
  trial.started = utc_now();
  const Clock::time_point start = Clock::now();
  const bool fresh = request.cell.lifetime == Lifetime::fresh;
  const int rounds = fresh ? request.cell.iterations : 1;
  for (int round = 0; round < rounds; ++round) {
    for (ProcessRecord& process : run_together(request, fresh ? round : -1, start)) {
      trial.processes.push_back(std::move(process));
    }
    if (output_check_ != nullptr) check_output(request, trial, start);
    judge_trial(trial);
    if (trial.judgement.outcome != Outcome::pass) break;
  }
  trial.seconds = seconds_since(start);
  return trial;
}

void Executor::check_output(const TrialRequest& request, TrialRecord& trial,
                            Clock::time_point trial_start) const {
  TrialRequest alone = request;
  alone.cell.threads = alone.cell.processes = 1;
  for (ProcessRecord& process : trial.processes) {
    output_check_->look_at(process, request.cell, request.seed,
                           [&] { return std::move(run_together(alone, -1, trial_start).front()); });
  }
}

std::vector<ProcessRecord> Executor::run_together(const TrialRequest& request, int iteration,
                                                  Clock::time_point trial_start) const {
  const WorkerKind kind = kind_of(*request.worker, request.cell);
  std::vector<WorkerStarts::Started> started;
  Children children;
  for (int process = 0; process < request.cell.processes; ++process) {
    started.push_back(starts_->start(
        kind, {to_string(request.cell), process, std::max(iteration, 0), request.seed},
        trial_start));
    children.push_back(std::move(started.back().child));
  }
  expect_next(request, iteration);
  bool opened = false;
  bool cancelled = false;
  while (!std::ranges::all_of(children, &Child::finished)) {
    wait_for_news(children);
    for (const auto& child : children) child->pump();
    if (interrupted_.load()) {
      for (const auto& child : children) child->end(EndedBy::user);
    }
    if (opened) continue;
    if (std::ranges::all_of(children, &Child::ready)) {
      for (const auto& child : children) child->open_gate();
      opened = true;
    } else if (!cancelled && std::ranges::any_of(children, &Child::finished)) {
      // One is gone before all were ready: the cell's number of processes cannot run together.
      for (const auto& child : children) child->end(EndedBy::cancelled);
      cancelled = true;
    }
  }
  std::vector<ProcessRecord> records;
  std::vector<Lifespan> lives;
  for (size_t i = 0; i < children.size(); ++i) {
    ProcessRecord record = children[i]->take_record();
    lives.push_back({children[i]->launched_at(), children[i]->begun_at() + record.seconds,
                     children[i]->take_child_crashes()});
    record.start = started[i].start;
    record.start_remark = started[i].remark;
    record.process = static_cast<int>(i);
    record.iteration = iteration;
    const ValidationSeen validation = validation_seen(record.err.text() + record.out.text());
    record.api_validation_seen = validation.api;
    record.shader_validation_seen = validation.shader;
    record.setup_problem = setup_problem(request, record);
    records.push_back(std::move(record));
  }
  collect_evidence(request, records, lives);
  return records;
}

WorkerKind Executor::kind_of(const WorkerInfo& worker, const Cell& cell) const {
  return {&worker, cell.backend, cell.sanitizer,
          worker_environment(cell, inherited_, extra_environment_)};
}

void Executor::expect_next(const TrialRequest& request, int iteration) const {
  const bool same_trial = iteration >= 0 && iteration + 1 < request.cell.iterations;
  if (same_trial || !request.following.has_value()) {
    return starts_->expect(kind_of(*request.worker, request.cell), request.cell.processes);
  }
  const TrialRequest::Following& next = *request.following;
  starts_->expect(kind_of(*next.worker, next.cell), next.cell.processes);
}

void Executor::collect_evidence(const TrialRequest& request, std::vector<ProcessRecord>& records,
                                const std::vector<Lifespan>& lives) const {
  std::vector<Departed> questions;
  const bool apple_gpu = info_of(request.cell.backend).apple_gpu;
  for (size_t i = 0; i < records.size(); ++i) {
    ProcessRecord& record = records[i];
    record.stacks = stack_evidence(record.recorder, *symboliser_);
    add_child_crashes(record, lives[i].child_crashes, *symboliser_);
    if (record.stacks.threads.empty() && std::holds_alternative<Exited>(record.termination)) {
      record.stacks.threads = race_evidence(record.err.text()).sides;
    }
    questions.push_back(departed(record, lives[i].launched_at, lives[i].died_at, apple_gpu));
  }
  // Now, and not later: the system keeps few reports, and removes the oldest.
  if (crash_reports_ != nullptr) {
    crash_reports_->attach(fmt::format("{:06}", request.sequence), questions);
  }
}

std::string Executor::setup_problem(const TrialRequest& request,
                                    const ProcessRecord& process) const {
  if (!process.hello.has_value()) return "";
  if (process.hello->protocol != kProtocolVersion) {
    return fmt::format("the worker speaks protocol {} and not {}", process.hello->protocol,
                       kProtocolVersion);
  }
  const nlohmann::json loaded = parsed_if_json(process.hello->provenance);
  const nlohmann::json& described = member(request.worker->describe, "provenance");
  const std::string expected = library_identity(described);
  // Cells of the backend metal run without LibTorch, whatever other cells of the worker load.
  const bool none_needed = info_of(request.cell.backend).library.empty();
  const std::string identity = loaded.is_object() ? library_identity(loaded) : expected;
  if (identity != expected && !(none_needed && identity.empty())) {
    return fmt::format("another library was loaded than when the campaign began: {}instead of {}",
                       identity, expected);
  }
  if (const std::string changed = changed_code(described, loaded); !changed.empty()) {
    return changed + ". Trials of two versions are never added up";
  }
  if (process.ready &&
      !validation_in_force(request.cell, process.err.text() + process.out.text())) {
    return "the validation layer is not in force: its banner was not seen";
  }
  return "";
}

}  // namespace mpsprobe
