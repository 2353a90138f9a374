#include "scenarios/worker/run_worker.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/input/input_error.h"
#include "harness/input/json_text.h"
#include "harness/provenance/probes_variable.h"
#include "harness/wire/assignment.h"
#include "harness/wire/flight_recorder.h"
#include "harness/wire/honoured_axes.h"
#include "harness/wire/shared_memory.h"
#include "harness/wire/start_process.h"
#include "harness/wire/write_all.h"
#include "scenarios/evidence/crash_handler.h"
#include "scenarios/evidence/images.h"
#include "scenarios/evidence/inquest.h"
#include "scenarios/evidence/loaded_names.h"
#include "scenarios/evidence/stack_capture.h"
#include "scenarios/threads/threads.h"
#include "scenarios/worker/fork_trials.h"
#include "scenarios/worker/leash.h"
#include "scenarios/worker/observation.h"

namespace mpsprobe {
namespace {

/// The events channel, worker's side. Each event is one line, written whole; safe to use from
/// several threads. Not async-signal-safe. Where the runner has gone the process ends.
class Channel {
 public:
  void send(const Event& event) {
    const std::string line = to_line(event) + "\n";
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!write_all(kEventsFd, line)) _exit(kOrphaned);
  }

 private:
  std::mutex mutex_;
};

/// One process of one trial.
class Run {
 public:
  Run(WorkerProgram& program, const Cell& cell, uint64_t seed, FlightRecorder recorder,
      HangInquest& inquest)
      : program_(program),
        cell_(cell),
        seed_(seed),
        recorder_(recorder),
        inquest_(inquest),
        leash_(kGateFd, [this] { inquest_.hold(); }) {}

  void run() {
    try {
      prepare();
      channel_.send(ReadyEvent{});
      leash_.wait_for_start();
      enter(Phase::run);
      const RunTally tally = run_threads(
          cell_, iterations(), *workload_, lanes_, recorder_,
          [this](const FailureEvent& failure) { channel_.send(failure); },
          program_.thread_starter(cell_), program_.times_launches());
      if (cell_.end == End::exit) {
        leave(tally);
        return;
      }
      enter(Phase::check);
      ResultEvent result{tally.operations, tally.seconds};
      result.observed_path = workload_->observed_path();
      result.inside_seconds = tally.inside_seconds;
      result.inside_cpu_seconds = tally.inside_cpu_seconds;
      result.cpu_seconds = tally.cpu_seconds;
      check(result);
      channel_.send(result);
      tell_observed_calls();
    } catch (...) {
      FailureEvent failure;
      failure.kind = kind_of_current_exception(failure.text);
      tell_of_main(failure);
    }
    enter(Phase::teardown);
    inquest_.watch(nullptr);
    lanes_.clear();
    workload_.reset();
  }

  /// Of the main thread, where it is now.
  void tell_of_main(FailureEvent failure) {
    failure.phase = name_of(recorder_.phase());
    failure.operation = cell_.op;
    channel_.send(failure);
  }

 private:
  int iterations() const { return cell_.lifetime == Lifetime::fresh ? 1 : cell_.iterations; }

  void enter(Phase phase) {
    recorder_.set_phase(phase);
    recorder_.at(recorder_layout::kMainThread, 0, Step::idle);
  }

  void prepare() {
    nlohmann::json provenance = program_.provenance(cell_);
    if (const size_t bytes = program_.thread_stack(); bytes > 0) provenance["thread_stack"] = bytes;
    channel_.send(HelloEvent{kProtocolVersion, json_text(provenance)});
    if (cell_.sanitizer == Sanitizer::thread && !under_thread_sanitizer()) {
      throw UnsupportedError("sanitizer=thread: this worker was not built with ThreadSanitizer");
    }
    // The device is chosen by now, and nobody has asked it for anything.
    begin_observation(cell_, recorder_, [this](const Event& event) { channel_.send(event); });
    workload_ = program_.make_workload(cell_, seed_);
    inquest_.watch(workload_.get());
    note_images(recorder_);
    lanes_.resize(static_cast<size_t>(cell_.threads));
    if (cell_.init == Init::main) {
      workload_->touch_device();
      for (int thread = 0; thread < cell_.threads; ++thread) {
        lanes_[static_cast<size_t>(thread)] = workload_->make_lane(thread);
      }
    }
    if (cell_.warmup == Warmup::main) {
      enter(Phase::warmup);
      warm_up(*workload_->make_lane(0));
    }
    if (cell_.init == Init::main) workload_->settle();
    note_images(recorder_);  // the device may have loaded more
  }

  /// Leaves also where it failed, as a thread does.
  static void warm_up(Lane& lane) {
    try {
      lane.enter();
      lane.launch(0);
      lane.synchronise();
    } catch (...) {
      lane.leave();
      throw;
    }
    lane.leave();
  }

  /// What main does that returns while threads work: the result is told before, since the process
  /// may die on its way out, and nothing that the threads use is touched.
  void leave(const RunTally& tally) {
    ResultEvent result{tally.operations, tally.seconds};
    result.unchecked = tally.operations;
    result.observed_path = workload_->observed_path();
    channel_.send(result);
    tell_observed_calls();
    inquest_.watch(nullptr);
    enter(Phase::teardown);
  }

  void check(ResultEvent& result) {
    for (int thread = 0; thread < cell_.threads; ++thread) {
      Lane* lane = lanes_[static_cast<size_t>(thread)].get();
      if (lane == nullptr) continue;
      recorder_.at(recorder_layout::kMainThread, static_cast<uint32_t>(thread), Step::idle);
      const CheckResult checked = lane->check();
      result.checked += checked.checked;
      result.unchecked += checked.unchecked;
      if (checked.wrong_iteration < 0) continue;
      channel_.send(FailureEvent{"wrong_result", checked.difference, "run", thread,
                                 checked.wrong_iteration, lane->operation()});
    }
  }

  WorkerProgram& program_;
  const Cell& cell_;
  uint64_t seed_;
  FlightRecorder recorder_;
  HangInquest& inquest_;
  Channel channel_;
  Leash leash_;
  std::unique_ptr<Workload> workload_;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

/// Of this process, from when it knows its cell; lives until the process has ended.
std::atomic<Run*> the_run{nullptr};

/// What the runner says on the gate to a process that was started ahead: one line, read byte by
/// byte, since what follows it is the leash's. Ends the process where the runner has gone.
std::optional<Assignment> wait_for_assignment() {
  std::string line;
  char byte = 0;
  while (byte != '\n') {
    const ssize_t got = read(kGateFd, &byte, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) _exit(kOrphaned);
    line += byte;
  }
  return parse_assignment(line);
}

int run_cell(WorkerProgram& program, const Assignment& assignment) {
  const std::string& cell_text = assignment.cell;
  // Each process and each fresh iteration gets inputs of its own.
  const uint64_t seed = assignment.seed + static_cast<uint64_t>(assignment.process) * 1'000'003 +
                        static_cast<uint64_t>(assignment.iteration);
  Cell cell;
  try {
    cell = parse_cell(cell_text);
  } catch (const InputError& error) {
    std::fprintf(stderr, "mpsprobe-worker: --cell: %s\n", error.what());
    return 2;
  }
  for (int fd : {kRecorderFd, kEventsFd, kGateFd}) {
    if (fcntl(fd, F_GETFD) < 0) {
      std::fprintf(stderr,
                   "mpsprobe-worker: descriptor %d is not open. A worker is started by the runner: "
                   "mpsprobe run --cell %s\n",
                   fd, cell_text.c_str());
      return 3;
    }
    fcntl(fd, F_SETFD, FD_CLOEXEC);  // what the library under test starts must not hold them
  }
  signal(SIGPIPE, SIG_IGN);
  try {
    // On the heap and never freed, as what follows: it is written until the process has ended.
    const auto* memory =
        new SharedMemory(SharedMemory::attach(kRecorderFd, sizeof(recorder_layout::Block)));
    auto* block = static_cast<recorder_layout::Block*>(memory->data());
    if (block->magic != recorder_layout::kMagic || block->version != recorder_layout::kVersion ||
        block->bytes != sizeof(recorder_layout::Block)) {
      std::fprintf(stderr,
                   "mpsprobe-worker: the flight recorder has another layout: runner and "
                   "worker are of different versions. Build both from one checkout\n");
      return 3;
    }
    FlightRecorder& recorder = *new FlightRecorder(block);
    install_crash_handler(recorder);
    prepare_stack_capture(recorder);
    new CrashContext(recorder_layout::kMainThread);
    recorder.begin_thread(recorder_layout::kMainThread, "main");
    note_images(recorder);
    auto* inquest = new HangInquest(recorder);
    auto* run = new Run(program, cell, seed, recorder, *inquest);
    the_run.store(run);
    run->run();
    // What the libraries do while the process ends still belongs to the tear-down, and the handler
    // notes it there: exit here, with the recorder mapped.
    std::fflush(nullptr);
    if (!program.ends_interpreter()) std::exit(0);
    recorder.set_phase(Phase::finalise);
    recorder.at(recorder_layout::kMainThread, 0, Step::idle);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mpsprobe-worker: %s\n", error.what());
    return 3;
  }
}

/// The answers to kVariablesVariable: an object of name and the library that has it, or "".
nlohmann::json loaded_variables() {
  nlohmann::json answers = nlohmann::json::object();
  const char* const list = std::getenv(kVariablesVariable);
  std::istringstream names(list == nullptr ? "" : list);
  for (std::string name; names >> name;) answers[name] = library_with_name(name);
  return answers;
}

/// How a process of this worker can be started beside `exec`, and why not.
void add_starts(nlohmann::json& answer, const std::string& why_no_fork) {
  answer["starts"] = {name_of(StartProcess::standby)};
  if (why_no_fork.empty()) {
    answer["starts"].push_back(name_of(StartProcess::fork));
  } else {
    answer["no_fork"] = why_no_fork;
  }
}

/// What this loop and its threads honour, and for each backend what its lanes do besides; where the
/// program has not said it.
void add_axes(nlohmann::json& answer) {
  if (answer.contains("axes")) return;
  answer["axes"] = loop_axes();
  for (nlohmann::json& entry : answer.at("backends")) {
    for (const BackendInfo& row : backend_table::kRows) {
      if (entry.at("name") == row.name) entry["axes"] = honoured_axes(row.backend);
    }
  }
}

}  // namespace

void tell_exception_of_main(const std::string& text) {
  FailureEvent failure;
  failure.kind = "exception";
  failure.text = text;
  if (Run* const run = the_run.load(); run != nullptr) run->tell_of_main(std::move(failure));
}

int run_worker(int argc, char** argv, WorkerProgram& program) {
  CLI::App app{"Runs one process of one mpsprobe trial. Started by the runner, not by hand."};
  app.require_subcommand(1);
  CLI::App* describe = app.add_subcommand("describe", "print what this worker is, as JSON");
  CLI::App* run = app.add_subcommand("run", "run one process of one trial");
  CLI::App* standby =
      app.add_subcommand("standby", "load the library, then run what a line on the gate says");
  CLI::App* fork =
      app.add_subcommand("fork", "load the library, then fork a process for each request");
  Assignment assignment;
  std::string backend;  // looked at by those that become another program (other_worker.h)
  for (CLI::App* ahead : {standby, fork}) {
    ahead->add_option("--backend", backend, "of the cells that will come");
  }
  run->add_option("--cell", assignment.cell, "the cell, in its text form")->required();
  run->add_option("--process", assignment.process, "index of this process in the trial")
      ->capture_default_str();
  run->add_option("--iteration", assignment.iteration,
                  "with lifetime=fresh: which iteration this process is")
      ->capture_default_str();
  run->add_option("--seed", assignment.seed, "seed of the inputs")->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (*describe) {
    const std::string why_no_fork = why_not_to_fork();  // before it looks for devices
    program.begin();
    nlohmann::json answer = program.describe();
    add_starts(answer, why_no_fork);
    add_axes(answer);
    answer["variables"] = loaded_variables();
    std::printf("%s\n", json_text(answer, 2).c_str());
    return 0;
  }
  if (*fork) serve_forks();
  if (*fork || *standby) {
    const std::optional<Assignment> given = wait_for_assignment();
    if (!given.has_value()) {
      std::fprintf(stderr, "mpsprobe-worker: the gate: a line that is no assignment\n");
      return 2;
    }
    assignment = *given;
  }
  program.begin();
  return run_cell(program, assignment);
}

}  // namespace mpsprobe
