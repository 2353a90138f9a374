#include "tools/signatures/corpus_case_for_tests.h"

#include <signal.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "harness/input/input_error.h"
#include "harness/pasted_text/pasted_process.h"
#include "harness/signature/find_failures.h"
#include "harness/signature/shape.h"
#include "harness/signature/written_stacks.h"
#include "harness/wire/split.h"

namespace mpsprobe {
namespace {

using Texts = std::map<std::string, std::string, std::less<>>;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  each_line(text, [&](std::string_view line) { lines.push_back(line); });
  return lines;
}

struct Parts {
  Texts header;
  Texts sections;
};

/// What was printed may hold lines of the same form.
bool is_section(std::string_view name) {
  constexpr std::string_view kSections[] = {
      "text", "asi", "reasons", "frames", "last exception", "failures", "crash report frames"};
  return std::find(std::begin(kSections), std::end(kSections), name) != std::end(kSections);
}

Parts take_apart(const std::string& name, std::string_view text) {
  Parts parts;
  constexpr std::string_view kSection = "--- ";
  std::string* section = nullptr;
  for (std::string_view line : lines_of(text)) {
    if (line.starts_with(kSection) && is_section(trimmed(line.substr(kSection.size())))) {
      section = &parts.sections[std::string(trimmed(line.substr(kSection.size())))];
    } else if (section != nullptr) {
      *section += line;
      *section += '\n';
    } else if (!trimmed(line).empty()) {
      const size_t colon = line.find(':');
      if (colon == std::string_view::npos) {
        throw InputError(name, "a line of the header is not of the form \"key: value\"",
                         "Begin what was printed with the line \"--- text\"");
      }
      parts.header[std::string(trimmed(line.substr(0, colon)))] = trimmed(line.substr(colon + 1));
    }
  }
  return parts;
}

std::string value(const Texts& texts, std::string_view key) {
  const auto found = texts.find(key);
  return found == texts.end() ? std::string() : found->second;
}

uint64_t number(const std::string& name, std::string_view text, int base) {
  uint64_t result = 0;
  if (base == 16 && text.starts_with("0x")) text.remove_prefix(2);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result, base);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw InputError(name, "\"" + std::string(text) + "\" is no number", "Write for example 0x5c8");
  }
  return result;
}

int signal_named(const std::string& name, const std::string& signal) {
  for (int i = 1; i < 65; ++i) {
    if (signal_name(i) == signal) return i;
  }
  throw InputError(name, "\"" + signal + "\" is no signal", "Write for example SIGABRT");
}

std::vector<StackFrame> frames_of(const std::string& section) {
  std::vector<StackFrame> frames;
  for (std::string_view line : lines_of(section)) {
    if (!trimmed(line).empty()) frames.push_back(frame_by_hand(line));
  }
  return frames;
}

std::vector<std::string> entries_of(const std::string& section) {
  std::vector<std::string> entries;
  for (std::string_view line : lines_of(section)) entries.emplace_back(line);
  while (!entries.empty() && entries.back().empty()) entries.pop_back();
  return entries;
}

// How it ended where neither the file nor the text says.
Termination guessed_termination(const ProcessRecord& process) {
  Termination told = told_termination(process);
  if (told != Termination(Exited{0})) return told;
  if (!process.stacks.threads.empty()) return Signaled{SIGSEGV, false};
  for (const Finding& finding : find_failures(process.err.text())) {
    if (finding.text_class != TextClass::setup_failed) return Signaled{SIGABRT, false};
  }
  return Exited{1};
}

void read_termination(const std::string& name, const Texts& header, CorpusCase& corpus) {
  ProcessRecord& process = corpus.process;
  const std::string signal = value(header, "signal");
  const std::string exit = value(header, "exit");
  const std::string hang = value(header, "hang");
  if (!signal.empty()) {
    process.termination = Signaled{signal_named(name, signal), false};
  } else if (!exit.empty()) {
    process.termination = Exited{static_cast<int>(number(name, exit, 10))};
  } else if (!hang.empty()) {
    const std::optional<EndedBy> ended_by = named<EndedBy>(hang);
    if (!ended_by) throw InputError(name, "hang: " + hang, "Write no_progress or deadline");
    process.termination = Signaled{SIGKILL, false};
    process.ended_by = *ended_by;
    process.seconds = process.idle_seconds = 1;
  } else {
    process.termination = corpus.negative ? Termination(Exited{0}) : guessed_termination(process);
  }
}

void read_recorder_lines(const std::string& name, const Texts& header, ProcessRecord& process) {
  RecorderReading& recorder = process.recorder;
  const std::string phase = value(header, "phase");
  recorder.phase = named<Phase>(phase).value_or(Phase::run);
  const std::string step = value(header, "step");
  const std::string operation = value(header, "operation");
  recorder.threads = {{0, operation.empty() ? "linear" : operation, 3,
                       named<Step>(step).value_or(Step::launching)}};
  const auto* signaled = std::get_if<Signaled>(&process.termination);
  if (const std::string address = value(header, "address"); !address.empty() && signaled) {
    recorder.crash.signal = signaled->signal;
    recorder.crash.thread = 0;
    recorder.crash.address = number(name, address, 16);
    const std::string pointer = value(header, "stack pointer");
    if (!pointer.empty()) recorder.crash.stack_pointer = number(name, pointer, 16);
  }
}

void read_crash_report(const Parts& parts, ProcessRecord& process) {
  CrashReport report;
  report.application_info = entries_of(value(parts.sections, "asi"));
  report.termination_reasons = entries_of(value(parts.sections, "reasons"));
  report.termination_namespace = value(parts.header, "namespace");
  report.subtype = value(parts.header, "subtype");
  report.last_exception = frames_of(value(parts.sections, "last exception"));
  if (const std::string& frames = value(parts.sections, "crash report frames"); !frames.empty()) {
    ThreadStack stack;
    stack.faulting = true;
    stack.frames = frames_of(frames);
    report.threads.push_back(std::move(stack));
  }
  const bool said = !report.application_info.empty() || !report.termination_reasons.empty() ||
                    !report.termination_namespace.empty() || !report.subtype.empty() ||
                    !report.last_exception.empty() || !report.threads.empty();
  if (said) process.crash_report = std::move(report);
}

void read_failures(const std::string& section, ProcessRecord& process) {
  for (std::string_view line : lines_of(section)) {
    const size_t first = line.find('\t');
    const size_t second = first == std::string_view::npos ? first : line.find('\t', first + 1);
    if (second == std::string_view::npos) continue;
    FailureEvent failure;
    failure.kind = line.substr(0, first);
    failure.operation = line.substr(first + 1, second - first - 1);
    failure.text = line.substr(second + 1);
    failure.phase = "run";
    process.failures.push_back(std::move(failure));
  }
}

}  // namespace

StackFrame frame_by_hand(std::string_view line) {
  if (std::optional<StackFrame> frame = read_written_frame(line)) return *frame;
  // Names of images may hold spaces: two of them, or a tab, end one.
  static const Shape kLoose(
      R"((?:\d+\s+)?(?:0x[0-9a-f]+\s+)?(?<image>[^\t\n]+?(?=  |\s*\t)|\S+)\s*(?:0x[0-9a-f]+\s+)?)"
      R"((?<function>[^\n]*)$)");
  const ShapeMatch parts = kLoose.match(trimmed(line), 0).value_or(ShapeMatch());
  const std::string image(parts["image"]);
  const std::string strict = "0  " + image + "  0x0  " + std::string(parts["function"]);
  return read_written_frame(strict).value_or(StackFrame{.image = image});
}

CorpusCase read_corpus_case(const std::string& name, std::string_view text, CaseText kind) {
  Parts parts = take_apart(name, text);
  CorpusCase corpus;
  corpus.name = name;
  corpus.bug = value(parts.header, "bug");
  corpus.path = value(parts.header, "path");
  const std::string what = value(parts.header, "kind");
  corpus.negative = what == "negative";
  if (corpus.bug.empty() || (what != "failure" && what != "negative")) {
    throw InputError(name, "the header lacks \"bug: slug\" or \"kind: failure|negative\"",
                     "Begin the file with these two lines");
  }
  ProcessRecord& process = corpus.process;
  const std::string printed = value(parts.sections, "text");
  const auto said = [&](std::string_view key, bool otherwise) {
    const std::string word = value(parts.header, key);
    return word.empty() ? otherwise : word == "yes";
  };
  if (said("hello", true)) process.hello = HelloEvent{kProtocolVersion, "{}"};
  process.ready = said("ready", true);
  if (said("result", corpus.negative)) process.result = ResultEvent{40, 0.1, 40, 0, "nograph"};
  if (const std::vector<StackFrame> frames = frames_of(value(parts.sections, "frames"));
      !frames.empty()) {
    ThreadStack stack;
    stack.thread = 0;
    stack.faulting = true;
    stack.frames = frames;
    process.stacks.threads.push_back(std::move(stack));
  }
  if (const std::string wait = value(parts.header, "wait"); wait == "cycle") {
    process.stacks.lock_cycle = {11, 12, 13};
  } else if (wait == "owner_gone") {
    process.stacks.threads.emplace_back().wait = {Wait::Kind::lock, 0x1000, 11, true};
  }
  read_crash_report(parts, process);
  bool hangs = false;
  if (kind == CaseText::pasted) {
    hangs = take_pasted_text(process, printed);
  } else {
    process.err.head = printed;
    process.err.bytes = printed.size();
  }
  read_failures(value(parts.sections, "failures"), process);
  const bool told = parts.header.contains("signal") || parts.header.contains("exit");
  if (hangs && !told) parts.header.emplace("hang", name_of(EndedBy::no_progress));
  read_termination(name, parts.header, corpus);
  read_recorder_lines(name, parts.header, process);
  return corpus;
}

}  // namespace mpsprobe
