#include "harness/pasted_text/pasted_process.h"

#include <signal.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "harness/crash_report/crash_text.h"
#include "harness/crash_report/ips.h"
#include "harness/outcome/race_evidence.h"
#include "harness/pasted_text/pasted_text.h"
#include "harness/signature/ascii.h"
#include "harness/signature/find_failures.h"
#include "harness/signature/shape.h"

namespace mpsprobe {
namespace {

constexpr auto npos = std::string_view::npos;
// More than anybody pastes.
constexpr size_t kMostFrames = 1024;

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text.substr(0, text.find_last_not_of(" \t\r") + 1);  // npos + 1 is 0
}

std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// Where a report in text form begins; the process printed what stands above it.
size_t report_begin(std::string_view text) {
  static const Shape kHead(
      "-------------------------------------|Process:|Path:|Identifier:|Date/Time:|OS Version:|"
      "Hardware Model:|Incident Identifier:|Crashed Thread:|Exception Type:");
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = take_line(rest);
    const size_t words = std::min(line.find_first_not_of("> \t"), line.size());
    if (kHead.match(line, words)) return static_cast<size_t>(line.data() - text.data());
  }
  return text.size();
}

// An `.ips` within a text: two JSON documents, one after the other.
bool take_json_report(ProcessRecord& process, std::string& text) {
  const size_t begin = text.find("{\"app_name\"");
  if (process.crash_report || begin == std::string::npos || (begin > 0 && text[begin - 1] != '\n'))
    return false;
  const size_t end = text.rfind('}');
  if (end == std::string::npos || end < begin) return false;
  ParsedReport parsed = parse_crash_report(text.substr(begin, end + 1 - begin));
  auto* report = std::get_if<CrashReport>(&parsed);
  if (report == nullptr) return false;
  process.crash_report = std::move(*report);
  text.resize(begin);
  return true;
}

// Who pastes a report cuts it, and one is whole only with its list of images.
void take_text_report(ProcessRecord& process, std::string& text) {
  if (process.crash_report) return;
  ParsedReport parsed = parse_crash_text(text + "\nBinary Images:\n");
  auto* report = std::get_if<CrashReport>(&parsed);
  if (report == nullptr || report->exception.empty()) return;
  process.crash_report = std::move(*report);
  text.resize(report_begin(text));
}

// "0   libx.dylib   0x18f000 take(int) + 8", "0   lanes   take + 8", "libx.dylib   take(int)".
bool is_frame(std::string_view line) {
  static const Shape kFrame(R"(\d+\s+\S.*?\s+0x[0-9a-f]+\s+\S|\d+\s+[\w.+-]+\s.*?[\w\])>] \+ \d+|)"
                            R"([\w.+-]+\.(?:dylib|so)[\d.]*\s+[\w~+:<-].*\()");
  return kFrame.match(line, 0).has_value();
}

// The frames of the thread that crashed, or of the only one that is shown.
std::vector<StackFrame> frames_in(std::string_view text, bool debugger) {
  std::vector<StackFrame> frames;
  while (!text.empty() && frames.size() < kMostFrames) {
    // Some pages make another quote of the one in front of a function.
    std::string plain(take_line(text));
    for (std::string_view quote : {"\u2018", "\u201b"}) {
      const size_t found = plain.find(quote);
      if (found != std::string::npos) plain.replace(found, quote.size(), "`");
    }
    std::string_view line = trimmed(plain);
    while (line.starts_with('>') || line.starts_with('*')) line = trimmed(line.substr(1));
    if (debugger) {
      if (line.starts_with("frame #0")) frames.clear();
      if (line.starts_with("frame #")) frames.push_back(read_written_frame(line));
      continue;
    }
    if (is_frame(line)) {
      frames.push_back(read_written_frame(line));
    } else if (!frames.empty()) {
      break;
    }
  }
  return frames;
}

void take_frames(ProcessRecord& process, std::string_view text) {
  const bool known = !process.stacks.threads.empty() ||
                     (process.crash_report && !process.crash_report->threads.empty() &&
                      !process.crash_report->threads.front().frames.empty());
  if (known) return;
  ThreadStack stack;
  stack.thread = 0;
  stack.faulting = true;
  stack.frames = frames_in(text, true);
  if (stack.frames.empty()) stack.frames = frames_in(text, false);
  if (!stack.frames.empty()) process.stacks.threads.push_back(std::move(stack));
}

}  // namespace

StackFrame read_written_frame(std::string_view line) {
  StackFrame frame;
  const auto take_token = [&] {
    const size_t end = std::min(line.find_first_of(" \t"), line.size());
    line = trimmed(line.substr(end));
  };
  const auto starts_with_address = [&] {
    return line.starts_with("0x") && line.find_first_of(" \t") != npos;
  };
  line = trimmed(line);
  while (line.starts_with('*') || line.starts_with('#')) line = trimmed(line.substr(1));
  if (line.starts_with("frame #")) line = trimmed(line.substr(line.find_first_of(": ", 7) + 1));
  static const Shape kNumber("\\d+\\s");
  if (kNumber.match(line, 0)) take_token();
  if (starts_with_address()) take_token();
  const size_t tick = line.find('`');
  if (tick != npos && line.substr(0, tick).find("  ") == npos && line.find('[') > tick) {
    frame.image = line.substr(0, tick);
    frame.function = line.substr(tick + 1);
    return frame;
  }
  // Names of images may hold spaces: two of them, or a tab, end one.
  const size_t gap = std::min(line.find("  "), line.find('\t'));
  const size_t end = gap != npos ? gap : line.find(' ');
  frame.image = trimmed(line.substr(0, end));
  if (frame.image == "??") frame.image.clear();
  line = end == npos ? std::string_view() : trimmed(line.substr(end));
  if (starts_with_address()) take_token();
  // "0x180000000 + 1234": a place in the image, no function.
  if (line.starts_with("0x") || line.starts_with("+ ") || line.starts_with('?')) return frame;
  frame.function = line;
  return frame;
}

Termination told_termination(const ProcessRecord& process) {
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
    const CrashReport& report = *process.crash_report;
    for (int signal = 1; signal < 32; ++signal) {
      if (report.signal == signal_name(signal)) return Signaled{signal, false};
    }
    text += report.exception + "\n" + report.termination_indicator;
  }
  for (const auto& [word, signal] : kWords) {
    if (text.find(word) != std::string::npos) return Signaled{signal, false};
  }
  if (!process.stacks.threads.empty()) return Signaled{SIGSEGV, false};
  return Exited{0};
}

void take_pasted_text(ProcessRecord& process, std::string_view pasted) {
  std::string text(pasted);
  const bool json = take_json_report(process, text);
  text = failure_text(text);
  if (!json) {
    const std::string whole = text;
    take_text_report(process, text);
    take_frames(process, whole);
  }
  process.err.head = std::move(text);
  process.err.bytes = process.err.head.size();
}

ProcessRecord read_pasted_process(std::string_view pasted) {
  ProcessRecord process;
  process.hello = HelloEvent{kProtocolVersion, "{}"};
  process.ready = true;
  process.recorder.phase = Phase::run;
  take_pasted_text(process, pasted);
  process.termination = told_termination(process);
  if (process.termination != Termination(Exited{0})) return process;
  process.result = ResultEvent{};
  const std::vector<Finding> findings = find_failures(process.err.head);
  const auto ends = [](const Finding& finding) { return ends_the_process(finding.text_class); };
  if (std::any_of(findings.begin(), findings.end(), ends)) {
    // It prints these and ends.
    process.termination = Signaled{SIGABRT, false};
    return process;
  }
  if (RaceEvidence race = race_evidence(process.err.head); !race.text.empty()) {
    process.stacks.threads = std::move(race.sides);
    return process;
  }
  // How it ended is not told: what it told of is all that is known.
  FailureEvent failure;
  failure.kind = "exception";
  failure.phase = "run";
  failure.text = findings.empty() ? told_story(process.err.head).title : findings.front().excerpt;
  if (!failure.text.empty()) process.failures.push_back(std::move(failure));
  return process;
}

}  // namespace mpsprobe
