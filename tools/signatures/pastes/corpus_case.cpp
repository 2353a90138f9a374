#include "tools/signatures/pastes/corpus_case.h"

#include <signal.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>
#include <variant>

#include "harness/crash_report/crash_text.h"
#include "harness/outcome/told.h"
#include "harness/signature/find_failures.h"
#include "harness/wire/input_error.h"
#include "tools/signatures/pastes/as_written.h"

namespace mpsprobe {
namespace {

using Texts = std::map<std::string, std::string, std::less<>>;

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

bool digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
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
    if (!trimmed(line).empty()) frames.push_back(read_corpus_frame(line));
  }
  return frames;
}

std::vector<std::string> entries_of(const std::string& section) {
  std::vector<std::string> entries;
  for (std::string_view line : lines_of(section)) entries.emplace_back(line);
  while (!entries.empty() && entries.back().empty()) entries.pop_back();
  return entries;
}

// How it ended where the file does not say: by the words of shells and debuggers.
Termination guessed_termination(const ProcessRecord& process) {
  static constexpr std::pair<std::string_view, int> kWords[] = {
      {"EXC_BAD_ACCESS", SIGSEGV}, {"egmentation fault", SIGSEGV},
      {"SIGSEGV", SIGSEGV},        {"Bus error", SIGBUS},
      {"bus error", SIGBUS},       {"SIGBUS", SIGBUS},
      {"Trace/BPT trap", SIGTRAP}, {"trace trap", SIGTRAP},
      {"SIGTRAP", SIGTRAP},        {"EXC_BREAKPOINT", SIGTRAP},
      {"EXC_CRASH", SIGABRT},      {"llegal instruction", SIGILL},
      {"Abort trap", SIGABRT},     {"SIGABRT", SIGABRT},
      {": abort", SIGABRT},        {" abort  ", SIGABRT},
      {"Aborted", SIGABRT}};
  std::string text = process.err.text();
  if (process.crash_report) {
    text += process.crash_report->exception + "\n" + process.crash_report->termination_indicator;
  }
  for (const auto& [word, signal] : kWords) {
    if (text.find(word) != std::string::npos) return Signaled{signal, false};
  }
  if (!process.stacks.threads.empty()) return Signaled{SIGSEGV, false};
  for (const Finding& finding : find_failures(text)) {
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
    const std::optional<EndedBy> ended_by = ended_by_named(hang);
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
  recorder.phase = phase_named(phase).value_or(Phase::run);
  const std::string step = value(header, "step");
  const std::string operation = value(header, "operation");
  recorder.threads = {
      {0, operation.empty() ? "linear" : operation, 3, step_named(step).value_or(Step::launching)}};
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

// Where a report begins in what somebody pasted; the process printed what stands above it.
size_t report_begin(const std::string& text) {
  constexpr std::string_view kHeads[] = {"-------------------------------------",
                                         "Process:",
                                         "Path:",
                                         "Identifier:",
                                         "Date/Time:",
                                         "OS Version:",
                                         "Hardware Model:",
                                         "Incident Identifier:",
                                         "Crashed Thread:",
                                         "Exception Type:"};
  for (size_t line = 0; line < text.size();
       line = std::min(text.find('\n', line), text.size()) + 1) {
    // A page's quotation mark and its indentation.
    const size_t words = std::min(text.find_first_not_of("> \t", line), text.size());
    for (std::string_view head : kHeads) {
      if (std::string_view(text).substr(words).starts_with(head)) return line;
    }
  }
  return text.size();
}

// A crash report that somebody pasted comes to the runner as the system's report, not as output.
// Who pastes one cuts it, and a report is whole only with its list of images.
void take_pasted_report(ProcessRecord& process) {
  if (process.crash_report) return;
  ParsedReport parsed = parse_crash_text(process.err.head + "\nBinary Images:\n");
  auto* report = std::get_if<CrashReport>(&parsed);
  if (report == nullptr || report->exception.empty()) return;
  process.crash_report = std::move(*report);
  process.err.head.resize(report_begin(process.err.head));
  process.err.bytes = process.err.head.size();
}

// What a debugger's session shows of the stack comes to the runner as frames.
void take_pasted_frames(ProcessRecord& process) {
  ThreadStack stack;
  stack.thread = 0;
  stack.faulting = true;
  for (const std::string_view written : lines_of(process.err.head)) {
    // Some pages make another quote of the one in front of a function.
    std::string plain(written);
    for (std::string_view quote : {"\u2018", "\u201b"}) {
      const size_t found = plain.find(quote);
      if (found != std::string::npos) plain.replace(found, quote.size(), "`");
    }
    std::string_view line = trimmed(plain);
    while (line.starts_with('>') || line.starts_with('*')) line = trimmed(line.substr(1));
    if (line.starts_with("frame #0")) stack.frames.clear();
    if (line.starts_with("frame #")) stack.frames.push_back(read_corpus_frame(line));
  }
  if (process.stacks.threads.empty() && !stack.frames.empty()) {
    process.stacks.threads.push_back(std::move(stack));
  }
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

StackFrame read_corpus_frame(std::string_view line) {
  StackFrame frame;
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  const auto take_token = [&] {
    const auto end = std::find_if(line.begin(), line.end(), blank);
    const std::string_view token = line.substr(0, static_cast<size_t>(end - line.begin()));
    line = trimmed(line.substr(token.size()));
    return token;
  };
  const auto starts_with_address = [&] {
    return line.starts_with("0x") && line.find_first_of(" \t") != std::string_view::npos;
  };
  line = trimmed(line);
  while (line.starts_with('*') || line.starts_with('#')) line = trimmed(line.substr(1));
  if (line.starts_with("frame #")) line = trimmed(line.substr(line.find_first_of(": ", 7) + 1));
  const size_t space = line.find_first_of(" \t");
  if (digits(line.substr(0, space)) && space != std::string_view::npos) take_token();
  if (starts_with_address()) take_token();
  const size_t tick = line.find('`');
  if (tick != std::string_view::npos && line.substr(0, tick).find("  ") == std::string_view::npos &&
      line.find('[') > tick) {
    frame.image = line.substr(0, tick);
    frame.function = line.substr(tick + 1);
    return frame;
  }
  // Names of images may hold spaces: two of them, or a tab, end one.
  const size_t gap = std::min(line.find("  "), line.find('\t'));
  const size_t one = line.find(' ');
  const size_t end = gap != std::string_view::npos ? gap : one;
  frame.image = trimmed(line.substr(0, end));
  if (frame.image == "??") frame.image.clear();
  line = end == std::string_view::npos ? std::string_view() : trimmed(line.substr(end));
  if (starts_with_address()) take_token();
  // "0x180000000 + 1234": a place in the image, no function.
  if (line.starts_with("0x") || line.starts_with("+ ") || line.starts_with('?')) return frame;
  frame.function = line;
  return frame;
}

CorpusCase read_corpus_case(const std::string& name, std::string_view text) {
  const Parts parts = take_apart(name, text);
  CorpusCase corpus;
  corpus.name = name;
  corpus.bug = value(parts.header, "bug");
  corpus.path = value(parts.header, "path");
  const std::string kind = value(parts.header, "kind");
  corpus.negative = kind == "negative";
  if (corpus.bug.empty() || (kind != "failure" && kind != "negative")) {
    throw InputError(name, "the header lacks \"bug: slug\" or \"kind: failure|negative\"",
                     "Begin the file with these two lines");
  }
  ProcessRecord& process = corpus.process;
  process.err.head = printed_text(value(parts.sections, "text"));
  process.err.bytes = process.err.head.size();
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
  take_pasted_report(process);
  take_pasted_frames(process);
  read_failures(value(parts.sections, "failures"), process);
  read_termination(name, parts.header, corpus);
  read_recorder_lines(name, parts.header, process);
  return corpus;
}

}  // namespace mpsprobe
