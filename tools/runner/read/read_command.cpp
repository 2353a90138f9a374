#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "harness/campaign/rerun.h"
#include "harness/crash_report/ips.h"
#include "harness/input/input_error.h"
#include "harness/input/input_file.h"
#include "harness/input/json_text.h"
#include "harness/journal/journal.h"
#include "harness/outcome/hang_title.h"
#include "harness/outcome/judge.h"
#include "harness/outcome/python_death.h"
#include "harness/outcome/remarks.h"
#include "harness/outcome/telling_stack.h"
#include "harness/pasted_text/pasted_process.h"
#include "harness/signature/frames.h"
#include "harness/signature/shape.h"
#include "reports/words/cell_label.h"
#include "reports/words/counted.h"
#include "reports/words/safe_text.h"
#include "tools/runner/command.h"
#include "tools/runner/exit_code.h"
#include "tools/runner/read/cells_to_run.h"
#include "tools/runner/say.h"

namespace mpsprobe {
namespace {

using nlohmann::json;

/// What `mpsprobe read` was asked for.
struct ReadOptions {
  std::string input;  ///< a file, or "-"
  bool json = false;
};

constexpr int kFormVersion = 1;
constexpr size_t kMostFrames = 30;

/// One failure that the input tells of.
struct ReadFailure {
  ProcessRecord process;
  Judgement judgement;
  size_t trials = 0;  ///< of a journal: how many came to it
  std::vector<CellsToRun> run;
};

struct ReadResult {
  std::string kind;  ///< "journal", "crash report", "text"
  std::vector<ReadFailure> failures;
  std::string note;  ///< where there is no failure: what there is
};

bool tells_of_something(const Judgement& judgement) {
  return judgement.outcome != Outcome::pass && judgement.outcome != Outcome::not_run &&
         !judgement.signature.empty();
}

// Frames, and no word of how it ended.
Judgement judge_frames(const ProcessRecord& process) {
  Judgement judgement;
  if (process.stacks.threads.empty()) return judgement;
  const StackTitle title = title_of_stack(process.stacks.threads.front().frames);
  judgement.signature = place_in_words(title);
  judgement.basis = Basis::frames;
  judgement.why = title.why;
  return judgement;
}

// Programs tell of the end of others that they started, and keep the reason.
std::string note_on_a_death(const std::string& text) {
  static const Shape kDeath(
      R"((?:crashed|died|terminated|exited|quit) (?:unexpectedly|without )|[Ee]xit code:? (?:null|-?\d{1,3}\b))");
  for (size_t at = 0; at < text.size(); ++at) {
    if (!kDeath.match(text, at)) continue;
    return "it tells that a process ended, and not of what. On a Mac the system's crash report "
           "says it: read the newest .ips in ~/Library/Logs/DiagnosticReports";
  }
  return "";
}

// What a failure is called; of frames alone nobody knows.
std::string_view outcome_in_words(Outcome outcome) {
  return outcome == Outcome::not_run ? "not said" : name_of(outcome);
}

ReadResult of_process(std::string kind, ProcessRecord process) {
  ReadResult result;
  result.kind = std::move(kind);
  Judgement judgement = judge(process);
  if (!tells_of_something(judgement)) judgement = judge_frames(process);
  if (judgement.signature.empty()) {
    result.note = note_on_a_death(process.err.text());
    return result;
  }
  std::vector<CellsToRun> run = cells_to_run(process, judgement);
  result.failures.push_back({std::move(process), std::move(judgement), 0, std::move(run)});
  return result;
}

// The system's reports tell how the process died.
ReadResult of_report(CrashReport report) {
  ProcessRecord process = read_pasted_process("");
  process.crash_report = std::move(report);
  process.termination = told_termination(process);
  // The kernel's own, for a guard or a limit.
  if (process.termination == Termination(Exited{0})) process.termination = Signaled{SIGKILL, false};
  return of_process("crash report", std::move(process));
}

std::string path_of(const CampaignHeader& header, const std::string& name) {
  const auto worker = std::find_if(header.workers.begin(), header.workers.end(),
                                   [&name](const WorkerInfo& each) { return each.name == name; });
  return worker == header.workers.end() ? "" : worker->path;
}

ReadResult of_journal(const std::string& file) {
  ReadResult result;
  result.kind = "journal";
  std::map<std::string, size_t> places;
  std::vector<std::pair<std::string, std::string>> cells;  // (worker, cell) of each failure
  size_t trials = 0;
  const Journal journal = read_journal(file, [&](const TrialRecord& trial) {
    ++trials;
    const Judgement& judgement = trial.judgement;
    if (!is_failure(judgement.outcome)) return;
    const auto [place, added] = places.try_emplace(judgement.signature, result.failures.size());
    if (added) {
      ReadFailure failure;
      failure.judgement = judgement;
      const auto judged = static_cast<size_t>(trial.judged_process);
      if (judged < trial.processes.size()) failure.process = trial.processes[judged];
      cells.emplace_back(trial.worker, to_string(trial.cell));
      result.failures.push_back(std::move(failure));
    }
    ++result.failures[place->second].trials;
  });
  for (size_t i = 0; i < cells.size(); ++i) {
    const auto& [worker, cell] = cells[i];
    const std::vector<std::string> words =
        rerun_arguments(journal.header, worker, path_of(journal.header, worker), cell);
    result.failures[i].run = {{shell_command(words), "its cell, as it ran"}};
  }
  std::stable_sort(result.failures.begin(), result.failures.end(),
                   [](const ReadFailure& a, const ReadFailure& b) { return a.trials > b.trials; });
  result.note = fmt::format("none of its {} failed", counted(trials, "trials"));
  return result;
}

// Of a first line alone: what follows may be anything.
bool begins_a_journal(std::string_view content) {
  const std::string_view line = content.substr(0, content.find('\n'));
  return line.starts_with("{\"campaign\":{") ||
         (line.starts_with('{') && line.find("\"record\":\"campaign\"") != std::string_view::npos);
}

bool begins_a_report(std::string_view content) {
  const std::string_view line = content.substr(0, content.find('\n'));
  return line.starts_with('{') && line.find("\"bug_type\"") != std::string_view::npos;
}

bool is_text(std::string_view content) {
  static constexpr std::string_view kOfText = "\n\r\t\x1b\b\a\f\v";
  const auto other = std::ranges::count_if(content, [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && kOfText.find(c) == std::string_view::npos;
  });
  // A crash leaves a stray byte in a log.
  constexpr ptrdiff_t kFew = 8;
  return other <= kFew;
}

std::string read_text(const std::string& name) {
  // More than a log that tells of one failure holds.
  constexpr size_t kMostBytes = size_t{16} << 20;
  constexpr size_t kLookedAt = 64 << 10;
  const char* const remedy =
      "Give it a log, a crash report or a pasted issue as text, or on standard input the part "
      "around the failure: tail -c 1M FILE | mpsprobe read -";
  const auto refuse = [&](const char* problem) {
    throw InputError("read " + printable(name), problem, remedy);
  };
  std::string content;
  if (name == "-") {
    content.resize(kMostBytes + 1);
    std::cin.read(content.data(), static_cast<std::streamsize>(content.size()));
    content.resize(static_cast<size_t>(std::cin.gcount()));
    if (content.size() > kMostBytes) refuse("is over 16 MiB");
  } else {
    content = read_input_file(name, kMostBytes, remedy);
  }
  if (content.empty()) refuse("is empty");
  if (!is_text(std::string_view(content).substr(0, kLookedAt))) refuse("is no text");
  return content;
}

// A journal may be larger than any other input, and is read a line at a time.
bool is_journal(const std::string& name) {
  constexpr size_t kEnough = 64 << 10;
  std::ifstream stream = open_plain_file(name);
  std::string line;
  return stream.is_open() && read_line(stream, line, kEnough) && begins_a_journal(line);
}

ReadResult read_any(const std::string& name) {
  if (name != "-" && is_journal(name)) return of_journal(name);
  const std::string content = read_text(name);
  if (begins_a_journal(content)) {
    if (name != "-") return of_journal(name);
    throw InputError("read -", "is a journal, which is read from its file", "Name the file");
  }
  if (!begins_a_report(content)) return of_process("text", read_pasted_process(content));
  ParsedReport parsed = parse_crash_report(content);
  if (auto* report = std::get_if<CrashReport>(&parsed)) return of_report(std::move(*report));
  if (const auto* event = std::get_if<GpuEvent>(&parsed)) {
    ReadResult result;
    result.kind = "crash report";
    result.note = "it is the system's report of a GPU event, which is no process's failure: " +
                  event->summary;
    return result;
  }
  throw InputError("read " + printable(name), std::get<Unreadable>(parsed).reason,
                   "Give it the whole file as the system wrote it");
}

// Of the thread that it died in, or of one that raced.
bool tells(const ThreadStack& stack) {
  return (stack.faulting || stack.thread == kSideOfRace) && !stack.frames.empty();
}

const ThreadStack* telling_thread(const ProcessRecord& process) {
  const auto in = [](const std::vector<ThreadStack>& threads) -> const ThreadStack* {
    const auto found = std::find_if(threads.begin(), threads.end(), tells);
    return found == threads.end() ? nullptr : &*found;
  };
  const ThreadStack* own =
      process.ended_by == EndedBy::nobody ? in(process.stacks.threads) : hung_stack(process);
  return own != nullptr || !process.crash_report ? own : in(process.crash_report->threads);
}

std::vector<StackFrame> frames_of(const ProcessRecord& process) {
  const ThreadStack* stack = telling_thread(process);
  std::vector<StackFrame> frames =
      stack != nullptr ? stack->frames : python_frames(process.err.text());
  frames.resize(std::min(frames.size(), kMostFrames));
  return frames;
}

std::string thread_of(const ProcessRecord& process) {
  const ThreadStack* stack = telling_thread(process);
  if (stack == nullptr) return "";
  if (!stack->name.empty()) return stack->name;
  return stack->thread_id == 0 ? "" : std::to_string(stack->thread_id);
}

json json_of(const ReadFailure& failure) {
  const Judgement& judgement = failure.judgement;
  json also = json::array();
  for (const OtherFinding& other : judgement.also) {
    also.push_back({{"title", printable(other.title)}, {"known", other.known}});
  }
  json frames = json::array();
  for (const StackFrame& frame : frames_of(failure.process)) {
    frames.push_back({{"image", printable(frame.image)},
                      {"function", printable(frame.function)},
                      {"source", printable(frame.source)}});
  }
  json run = json::array();
  for (const CellsToRun& cells : failure.run) {
    run.push_back(
        {{"command", printable(cells.command, Lines::keep)}, {"why", printable(cells.why)}});
  }
  json remarked = json::array();
  for (const std::string& remark : remarks(failure.process)) remarked.push_back(printable(remark));
  json object = {{"outcome", outcome_in_words(judgement.outcome)},
                 {"detail", printable(judgement.detail)},
                 {"title", printable(judgement.signature)},
                 {"known", judgement.known},
                 {"basis", name_of(judgement.basis)},
                 {"rows", judgement.why},
                 {"phase", name_of(judgement.phase)},
                 {"also", also},
                 {"thread", printable(thread_of(failure.process))},
                 {"frames", frames},
                 {"remarks", remarked},
                 {"run", run}};
  if (failure.trials > 0) object["trials"] = failure.trials;
  return object;
}

void print_frames(const std::vector<StackFrame>& frames) {
  for (size_t i = 0; i < std::min(frames.size(), kMostFrames); ++i) {
    const std::string source = frames[i].source.empty() ? "" : " (" + frames[i].source + ")";
    say(stdout, "  {:<3} {:<24} {}\n", i, printable(frames[i].image),
        shortened(printable(frames[i].function + source), 160));
  }
}

void print_failure(const ReadFailure& failure) {
  const Judgement& judgement = failure.judgement;
  const bool detailed = !judgement.detail.empty() && judgement.detail != judgement.signature;
  say(stdout, "outcome    {}{}\n", outcome_in_words(judgement.outcome),
      detailed ? ": " + shortened(printable(judgement.detail), 200) : "");
  say(stdout, "title      {}\n", printable(judgement.signature));
  if (failure.trials > 0) say(stdout, "trials     {}\n", failure.trials);
  if (judgement.basis == Basis::place) {
    say(stdout, "           (rests on nothing but the place: different bugs may share it)\n");
  }
  if (!judgement.why.empty()) {
    say(stdout, "titled by  {}{}\n", fmt::join(judgement.why, ", "),
        judgement.known ? "" : " (no known message: titled by its form)");
  }
  for (const OtherFinding& other : judgement.also) {
    say(stdout, "also       {}\n", printable(other.title));
  }
  for (const std::string& remark : remarks(failure.process)) {
    say(stdout, "remark     {}\n", printable(remark));
  }
  const std::vector<ThreadStack>& threads = failure.process.stacks.threads;
  if (!threads.empty() && threads.front().thread == kSideOfRace) {
    for (const ThreadStack& side : threads) {
      say(stdout, "\n{}\n", printable(side.name));
      print_frames(side.frames);
    }
  } else if (const std::vector<StackFrame> frames = frames_of(failure.process); !frames.empty()) {
    const std::string thread = thread_of(failure.process);
    const bool hang = judgement.outcome == Outcome::hang;
    say(stdout, "\n{}thread{}\n", hang ? "" : "faulting ",
        thread.empty() ? "" : " " + printable(thread));
    print_frames(frames);
  }
  say(stdout, "\nto look for the same here\n");
  for (const CellsToRun& cells : failure.run) {
    const std::string why = cells.why.empty()
                                ? "nothing that was read names an operation or a backend"
                                : "for " + cells.why;
    say(stdout, "  {}    # {}\n", printable(cells.command, Lines::keep), printable(why));
  }
}

void add_read_options(CLI::App& app, ReadOptions& options) {
  app.add_option("input", options.input,
                 "a log, an .ips crash report, a journal or a pasted issue; - for standard input")
      ->required()
      ->type_name("FILE|-");
  app.add_flag("--json", options.json, "as JSON");
}

/// What failed, of a log, a crash report, a journal or a pasted issue. Returns the exit code: 0; 4
/// where nothing tells of a failure. Throws InputError, JournalError.
int read_command_line(const ReadOptions& options) {
  const ReadResult result = read_any(options.input);
  const int code = result.failures.empty() ? kExitNothingRun : kExitOk;
  if (options.json) {
    json failures = json::array();
    for (const ReadFailure& failure : result.failures) failures.push_back(json_of(failure));
    const json object = {{"mpsprobe_read", kFormVersion},
                         {"input", result.kind},
                         {"failures", failures},
                         {"note", result.failures.empty() ? printable(result.note) : ""}};
    say(stdout, "{}\n", json_text(object, 2));
    return code;
  }
  if (result.failures.empty()) {
    say(stdout, "nothing of a failure found in this {}{}\n", result.kind,
        result.note.empty() ? "" : ": " + printable(result.note));
    return code;
  }
  for (const ReadFailure& failure : result.failures) {
    if (&failure != &result.failures.front()) say(stdout, "\n");
    print_failure(failure);
  }
  return code;
}

}  // namespace

RunCommand add_read(CLI::App& app, const Called& /*called*/) {
  return bound(app, add_read_options, read_command_line);
}

}  // namespace mpsprobe
