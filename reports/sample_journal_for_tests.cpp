#include "reports/sample_journal_for_tests.h"

#include <signal.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace mpsprobe {
namespace {

using nlohmann::json;

json build(const std::string& version, const std::string& hash, const std::string& id) {
  return {{"torch",
           {{"version", version},
            {"git_hash", hash},
            {"path", "/opt/torch/lib/libtorch_cpu.so"},
            {"build_id", id},
            {"has_mps_stream_pool", false}}},
          {"device", "simulated Metal device"}};
}

Judgement passed() {
  Judgement judgement{Outcome::pass};
  judgement.phase = Phase::teardown;
  return judgement;
}

RecorderReading reading(const Cell& cell, bool failed, const Judgement& judgement, bool overlap) {
  RecorderReading recorder;
  recorder.phase = failed ? judgement.phase : Phase::teardown;
  for (int thread = 0; thread < cell.threads; ++thread) {
    const Step step = !failed       ? Step::finished
                      : thread == 2 ? Step::launching
                                    : Step::synchronising;
    recorder.threads.push_back(
        {static_cast<uint32_t>(thread), cell.op, static_cast<uint32_t>(failed ? 3 : 9), step});
  }
  recorder.launches = static_cast<uint64_t>(cell.threads) * static_cast<uint64_t>(cell.iterations);
  const bool met = overlap && cell.threads > 1 && cell.lock == Lock::none;
  recorder.most_inside = met ? static_cast<uint32_t>(cell.threads) : 1;
  recorder.overlapped = met ? recorder.launches / 2 : 0;
  if (failed && judgement.outcome == Outcome::signal) {
    recorder.crash.signal = SIGSEGV;
    recorder.crash.address = 0x18;
    recorder.crash.thread = std::min(2, cell.threads - 1);
    recorder.crash.frames = {{"/opt/mpsprobe/lib/libmpsprobe_sim.so", "", 0x1a2b},
                             {"/opt/torch/lib/libtorch_cpu.so", "", 0x3c4d5e}};
  }
  return recorder;
}

}  // namespace

SampleJournal::SampleJournal() {
  CampaignHeader& header = journal.header;
  header.mpsprobe_version = "0.1.0";
  header.started = "2026-01-31T12:00:00.000Z";
  header.command_line = {"mpsprobe", "run", "--matrix", "default", "--seed", "42"};
  header.seed = 42;
  header.trials = 10;
  header.timeout_seconds = 60;
  header.stall_seconds = 10;
  header.machine = {{"system", "Linux"}, {"cpu", {{"name", "x86-64"}, {"cores", 2}}}};
  header.workers.push_back(
      {"stock", "/opt/mpsprobe/bin/mpsprobe-worker", {{"mpsprobe_worker", 1}}});
  header.matrix_name = "default";
  journal.provenances["build-a"] = build("2.15.0+cpu", "0a1b2c3d4e5f", "aa11");
  journal.provenances["build-b"] = build("2.9.1a0", "ffee00112233", "bb22");
}

SampleJournal& SampleJournal::block(const std::string& title) {
  block_ = title;
  return *this;
}

SampleJournal& SampleJournal::plan(const std::string& cell) {
  last_cell_ = parse_cell(cell);
  journal.header.cells.push_back(PlannedCell{last_cell_, block_, std::nullopt});
  return *this;
}

SampleJournal& SampleJournal::expect(const Expectation& expectation) {
  PlannedCells cells;
  for (size_t i = 0; i < journal.header.cells.size(); ++i) {
    PlannedCell planned = journal.header.cells[i];
    if (i + 1 == journal.header.cells.size()) planned.expectation = expectation;
    cells.push_back(std::move(planned));
  }
  journal.header.cells = std::move(cells);
  return *this;
}

SampleJournal& SampleJournal::ran(int trials, int failures, const Judgement& how,
                                  const std::string& worker) {
  const Cell cell = last_cell_;
  for (int i = 0; i < trials; ++i) {
    const bool failed = i < failures;
    TrialRecord trial;
    trial.worker = worker;
    trial.cell = cell;
    trial.trial = i;
    trial.sequence = static_cast<uint64_t>(sequence_++);
    trial.before = journal.trials.empty() ? "" : to_string(journal.trials.back().cell);
    trial.started = "2026-01-31T12:00:01.000Z";
    trial.seconds = 0.25;
    trial.judgement = failed ? how : passed();
    for (int process = 0; process < cell.processes; ++process) {
      ProcessRecord record;
      record.process = process;
      record.pid = 1000 + process;
      record.hello = HelloEvent{kProtocolVersion, provenance};
      record.ready = true;
      record.recorder = reading(cell, failed, how, overlap);
      if (failed) {
        record.termination = Signaled{SIGSEGV, false};
        record.err.head = "launching linear\n";
        record.err.bytes = record.err.head.size();
      } else {
        record.termination = Exited{0};
        ResultEvent result;
        result.operations =
            static_cast<uint64_t>(cell.threads) * static_cast<uint64_t>(cell.iterations);
        result.seconds = static_cast<double>(result.operations) /
                         (operations_per_second * (1 + 0.01 * i)) * cell.processes;
        result.checked = result.operations;
        result.observed_path =
            cell.path == Path::automatic ? "not observed" : std::string(name_of(cell.path));
        record.result = result;
      }
      trial.processes.push_back(std::move(record));
    }
    journal.trials.push_back(std::move(trial));
  }
  return *this;
}

SampleJournal& SampleJournal::came_to(int trials, Outcome outcome) {
  for (int i = 0; i < trials; ++i) {
    const bool follows = !journal.trials.empty() && journal.trials.back().cell == last_cell_;
    const int next = follows ? last().trial + 1 : 0;
    ran(1, 1, Judgement{outcome});
    last().trial = next;
    last().processes.clear();
  }
  return *this;
}

SampleJournal& SampleJournal::unsupported(const std::string& text) {
  came_to(1, Outcome::unsupported);
  last().judgement.detail = "a title";
  FailureEvent event;
  event.text = text;
  last().processes.emplace_back().failures = {event};
  return *this;
}

SampleJournal& SampleJournal::left_out(const std::string& cell, const std::string& reason) {
  journal.header.left_out.push_back({cell, reason});
  return *this;
}

SampleJournal& SampleJournal::ended(const std::string& reason) {
  journal.ends.push_back({reason, "2026-01-31T12:05:00.000Z", ""});
  return *this;
}

Judgement SampleJournal::segfault() {
  Judgement judgement{Outcome::signal, "SIGSEGV", "SIGSEGV in linear while launching"};
  judgement.basis = Basis::frames;
  judgement.phase = Phase::run;
  return judgement;
}

Judgement SampleJournal::hang() {
  Judgement judgement{Outcome::hang, "", "hang in linear while synchronising"};
  judgement.basis = Basis::frames;
  judgement.phase = Phase::run;
  return judgement;
}

SampleJournal report_000() {
  SampleJournal sample;
  sample.block("Threads in one process");
  for (const char* what : {"raw/default", "linear/nograph", "linear/graph"}) {
    const std::string group = std::string("sim/") + what;
    const int boundary = group == "sim/linear/nograph" ? 2 : group == "sim/linear/graph" ? 3 : 8;
    for (int threads : {1, 2, 3, 4, 5, 8}) {
      sample.operations_per_second = 900.0 * threads;
      sample.plan(group + "/threads=" + std::to_string(threads));
      sample.ran(10, threads > boundary ? 10 : 0);
    }
  }
  sample.block("Processes of one thread");
  for (int processes : {1, 2, 4, 6, 8}) {
    sample.operations_per_second = 800.0 * processes;
    sample.plan("sim/linear/default/threads=1/processes=" + std::to_string(processes));
    sample.ran(10);
  }
  return sample.ended();
}

}  // namespace mpsprobe
