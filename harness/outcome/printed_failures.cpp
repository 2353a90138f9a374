#include "harness/outcome/printed_failures.h"

#include <algorithm>
#include <string>
#include <utility>

#include "harness/signature/shape.h"

namespace mpsprobe {
namespace {

// Crash reports are small; more than this comes from elsewhere.
constexpr size_t kMostEntryBytes = 256 << 10;

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

// How much a reading tells: known findings, those that were told before, and longer titles of
// others.
std::pair<size_t, size_t> telling(const std::vector<Finding>& reading,
                                  const std::vector<Finding>& before) {
  std::pair<size_t, size_t> told_so_far;
  for (const Finding& finding : reading) {
    if (finding.known || told(before, finding.title)) ++told_so_far.first;
    if (!finding.known) told_so_far.second += finding.title.size();
  }
  return told_so_far;
}

void add_entries(std::vector<Finding>& findings, const std::vector<std::string>& entries) {
  std::vector<Finding> best = find_failures(joined(entries, "\n"));
  if (entries.size() > 1) {
    for (std::string_view separator : {"", " "}) {
      std::vector<Finding> other = find_failures(joined(entries, separator));
      if (telling(other, findings) > telling(best, findings)) best = std::move(other);
    }
  }
  for (Finding& finding : best) {
    if (!told(findings, finding.title)) findings.push_back(std::move(finding));
  }
}

}  // namespace

std::string printed_by(const ProcessRecord& process) {
  const bool on_stdout = process.own_command && process.err.bytes == 0;
  return (on_stdout ? process.out : process.err).text("");
}

std::vector<Finding> printed_failures(const ProcessRecord& process) {
  std::vector<Finding> findings = find_failures(printed_by(process));
  if (process.crash_report) {
    add_entries(findings, process.crash_report->application_info);
    add_entries(findings, process.crash_report->termination_reasons);
    cut_findings(findings);
  }
  return findings;
}

Titled last_words_of(const ProcessRecord& process) {
  Titled words = last_words(printed_by(process));
  if (words.title.empty() && process.crash_report) {
    words = last_words(joined(process.crash_report->application_info, "\n"));
  }
  return words;
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

bool is_command_buffer_error(const Finding& finding) {
  return finding.text_class == TextClass::gpu_error ||
         (finding.text_class == TextClass::out_of_memory &&
          finding.title.starts_with("command buffer: "));
}

bool reported_command_buffer_error(const ProcessRecord& process) {
  const auto tells = [](const std::string& text) {
    const std::vector<Finding> findings = find_failures(text);
    return std::any_of(findings.begin(), findings.end(), is_command_buffer_error);
  };
  return tells(process.err.text()) ||
         std::any_of(process.failures.begin(), process.failures.end(),
                     [&](const FailureEvent& failure) { return tells(failure.text); });
}

std::string uncaught_object_reason(const ProcessRecord& process) {
  constexpr size_t kMost = 1024;
  // "*** -[Pool take:]: no lane", or an exception's name and, in the parentheses, what it says.
  static const Shape kReason(R"((?:\*\*\* )?[-+]\[(?s:.)*?\]: |[\w.]+?Exception: ((?s:.)*))");
  if (!process.crash_report) return "";
  for (const std::string& entry : process.crash_report->application_info) {
    if (const auto reason = kReason.match(entry, 0)) {
      return entry.substr(reason->inner_begin, kMost);
    }
  }
  return "";
}

}  // namespace mpsprobe
