#include "harness/outcome/told.h"

#include <algorithm>
#include <string>

#include "harness/outcome/ascii.h"
#include "harness/outcome/log_prefix.h"

namespace mpsprobe {
namespace {

// Crash reports are small; more than this comes from elsewhere.
constexpr size_t kMostEntryBytes = 256 << 10;
constexpr size_t kMostTraceback = 64 << 10;

bool told(const std::vector<Finding>& findings, const std::string& title) {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const Finding& finding) { return finding.title == title; });
}

std::string joined(const std::vector<std::string>& entries, std::string_view separator) {
  std::string text;
  for (const std::string& entry : entries) {
    if (text.size() + entry.size() > kMostEntryBytes) break;
    if (!text.empty()) text += separator;
    text += entry;
  }
  return text;
}

// How much of a reading is explained: known findings, and those that were told before.
size_t explained(const std::vector<Finding>& reading, const std::vector<Finding>& before) {
  return static_cast<size_t>(std::count_if(
      reading.begin(), reading.end(),
      [&](const Finding& finding) { return finding.known || told(before, finding.title); }));
}

void add_entries(std::vector<Finding>& findings, const std::vector<std::string>& entries) {
  std::vector<Finding> best = find_failures(joined(entries, "\n"));
  if (entries.size() > 1) {
    for (std::string_view separator : {"", " "}) {
      std::vector<Finding> other = find_failures(joined(entries, separator));
      if (explained(other, findings) > explained(best, findings)) best = std::move(other);
    }
  }
  for (Finding& finding : best) {
    if (!told(findings, finding.title)) findings.push_back(std::move(finding));
  }
}

bool word(char c) {
  return ascii::word(c) || c == '.';
}

struct LogLine {
  std::string_view text;
  size_t indent;  // spaces between what the log put in front and the text
};

LogLine behind_log(std::string_view line) {
  const size_t prefix = log_prefix_length(line);
  const std::string_view front = line.substr(0, prefix);
  const size_t last = front.find_last_not_of(" \t");
  return {line.substr(prefix), prefix - (last == std::string_view::npos ? 0 : last + 1)};
}

}  // namespace

std::vector<Finding> told_by(const ProcessRecord& process) {
  std::vector<Finding> findings = find_failures(process.err.text());
  if (process.crash_report) {
    add_entries(findings, process.crash_report->application_info);
    add_entries(findings, process.crash_report->termination_reasons);
    cut_findings(findings);
  }
  return findings;
}

bool loader_failed(const ProcessRecord& process) {
  if (!process.crash_report) return false;
  if (process.crash_report->termination_namespace == "DYLD") return true;
  const std::vector<std::string>& reasons = process.crash_report->termination_reasons;
  return std::any_of(reasons.begin(), reasons.end(), [](const std::string& reason) {
    return reason.find("Library not loaded") != std::string::npos ||
           reason.find("Symbol not found") != std::string::npos;
  });
}

bool broke_a_guard(const ProcessRecord& process) {
  return process.crash_report && (process.crash_report->exception.starts_with("EXC_GUARD") ||
                                  process.crash_report->termination_namespace == "GUARD");
}

bool tells_of_command_buffer(const Finding& finding) {
  return finding.text_class == TextClass::gpu_error ||
         (finding.text_class == TextClass::out_of_memory &&
          finding.title.starts_with("command buffer: "));
}

bool told_of_command_buffer(const ProcessRecord& process) {
  const auto tells = [](const std::string& text) {
    const std::vector<Finding> findings = find_failures(text);
    return std::any_of(findings.begin(), findings.end(), tells_of_command_buffer);
  };
  return tells(process.err.text()) ||
         std::any_of(process.failures.begin(), process.failures.end(),
                     [&](const FailureEvent& failure) { return tells(failure.text); });
}

std::string uncaught_python_exception(const ProcessRecord& process) {
  const std::string all = process.err.text();
  const std::string_view text =
      std::string_view(all).substr(all.size() > kMostTraceback ? all.size() - kMostTraceback : 0);
  const size_t traceback = text.rfind("Traceback (most recent call last):");
  if (traceback == std::string_view::npos) return "";
  // Below the frames, which are indented, stands "Type: message".
  const size_t begins = text.rfind('\n', traceback) + 1;  // npos + 1 is 0
  const size_t own = behind_log(text.substr(begins, traceback - begins + 1)).indent;
  size_t line = text.find('\n', traceback);
  while (line != std::string_view::npos && line + 1 < text.size()) {
    const size_t begin = line + 1;
    line = text.find('\n', begin);
    const LogLine logged = behind_log(text.substr(begin, line - begin));
    const std::string_view what = logged.text;
    if (what.empty() || logged.indent > own || what[0] == '\r') continue;
    // Frames that somebody, or a logger, left out.
    if (what.find_first_not_of(".\r") == std::string_view::npos) continue;
    const size_t type =
        static_cast<size_t>(std::find_if_not(what.begin(), what.end(), word) - what.begin());
    const bool form = type > 0 && (type == what.size() || what[type] == ':' || what[type] == '\r');
    return form ? std::string(what.substr(0, 1024)) : "";
  }
  return "";
}

std::string uncaught_object_reason(const ProcessRecord& process) {
  if (!process.crash_report) return "";
  for (const std::string& entry : process.crash_report->application_info) {
    const size_t type =
        static_cast<size_t>(std::find_if_not(entry.begin(), entry.end(), word) - entry.begin());
    const std::string_view rest = std::string_view(entry).substr(type);
    if (type > std::string_view("Exception").size() &&
        std::string_view(entry).substr(0, type).ends_with("Exception") && rest.starts_with(": ")) {
      return std::string(rest.substr(2, 1024));
    }
  }
  return "";
}

}  // namespace mpsprobe
