#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/campaign/rerun.h"
#include "reports/analysis/failures/failure_kind.h"
#include "reports/groups/group_words.h"
#include "reports/words/cell_label.h"
#include "reports/words/counted.h"
#include "reports/words/report_words.h"
#include "reports/words/safe_text.h"
#include "reports/words/stack_words.h"
#include "reports/writers/answer_tables.h"
#include "reports/writers/markdown_sections.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostCells = 3;
constexpr size_t kMostThreads = 32;
constexpr size_t kMostBeside = 6;
constexpr size_t kMostDetailed = 20;  // signatures beyond are in the JSON

std::string where_it_failed(const Analysis& analysis, const SignatureGroup& group) {
  std::vector<std::string> cells;
  for (const SignatureGroup::Where& where : group.cells) {
    cells.push_back(with_arm(
        analysis, fmt::format("{} {} of {}", code_span(where.cell), where.failures, where.counted),
        escaped(analysis.arms[where.arm].label)));
  }
  return some_of(cells, kMostCells);
}

std::string phases(const SignatureGroup& group) {
  std::string text;
  for (const auto& [phase, trials] : group.phases) {
    if (!text.empty()) text += ", ";
    text += group.phases.size() == 1 ? phase : fmt::format("{} {}", phase, trials);
  }
  return text;
}

std::string what_happened(const FailureExample& example) {
  const Judgement& judgement = example.judgement;
  std::string text =
      fmt::format("Trial {}{} of {}: {}", example.trial, seed_in_words(example.seed),
                  code_span(to_string(example.cell)),
                  escaped(failure_kind({judgement.outcome, judgement.detail, 1}), 80));
  if (example.cell.processes > 1) text += fmt::format(" in process {}", example.process);
  text += fmt::format(" in the phase {}", name_of(judgement.phase));
  const CrashSeen& crash = example.recorder.crash;
  if (crash.signal != 0) {
    const std::string signal = signal_name(crash.signal);
    text += (signal == judgement.detail ? "" : ", " + signal) +
            fmt::format(" in {}", thread_in_words(crash.thread));
    // An abort faults nowhere.
    if (crash.address != 0) text += fmt::format(", at address {:#x}", crash.address);
  }
  if (example.ended_by != EndedBy::nobody) {
    text += fmt::format("; the runner ended it ({})", words(name_of(example.ended_by)));
  }
  if (!example.recorder.intact) text += "; its flight recorder was overwritten";
  return text + ".\n\n";
}

std::string thread_table(const FailureExample& example) {
  const std::vector<ThreadPlace>& threads = example.recorder.threads;
  if (threads.empty()) return "";
  std::vector<std::vector<std::string>> rows{{"thread", "operation", "iteration", "step"}};
  for (size_t i = 0; i < std::min(threads.size(), kMostThreads); ++i) {
    const ThreadPlace& place = threads[i];
    const bool crashed = example.recorder.crash.signal != 0 &&
                         static_cast<int64_t>(place.thread) == example.recorder.crash.thread;
    const std::string name =
        place.thread == recorder_layout::kMainThread ? "main" : std::to_string(place.thread);
    rows.push_back({name + (crashed ? " **crashed**" : ""), code_span(place.operation, 40),
                    std::to_string(place.iteration), std::string(name_of(place.step))});
  }
  std::string text = markdown_table(rows);
  if (threads.size() > kMostThreads) {
    text += fmt::format("\n{} more threads.\n", threads.size() - kMostThreads);
  }
  return text + "\n";
}

std::string printed(const FailureExample& example) {
  std::string text;
  if (example.event) {
    const FailureEvent& event = *example.event;
    text +=
        fmt::format("The process reported ({}, {}):\n\n{}\n", code_span(event.kind, 40),
                    thread_in_words(event.thread < 0 ? recorder_layout::kMainThread : event.thread),
                    code_block(last_lines(event.text, 16, 300)));
  }
  if (!example.excerpt.empty()) text += "It printed:\n\n" + code_block(example.excerpt) + "\n";
  return text;
}

std::string what_ran_before(const SignatureGroup& group) {
  std::vector<std::string> cells;
  for (const auto& [cell, trials] : group.before) {
    cells.push_back(fmt::format("{} ({}×)", cell.empty() ? "nothing" : code_span(cell), trials));
  }
  return "Ran before it: " + some_of(cells, 3) + ".\n\n";
}

std::string rests_on(const SignatureGroup& group) {
  std::string text;
  if (group.basis == Basis::text) text = "Rests on: text.";
  if (group.basis == Basis::frames) text = "Rests on: frames.";
  if (group.thin()) {
    text =
        "Rests on: only the place where the process was. **Thin:** nothing that was told or seen "
        "names a cause, and different bugs may share this signature.";
  }
  std::vector<std::string> titles;
  for (const SignatureGroup::Beside& found : group.also) {
    titles.push_back(fmt::format("{}{} ({}×)", code_span(found.finding.title),
                                 found.finding.known ? "" : " (new)", found.trials));
  }
  titles.resize(titles.size() + group.also_left_out);
  const std::string beside = some_of(titles, kMostBeside);
  if (const std::vector<std::string>& why = group.first.judgement.why; !why.empty()) {
    text += (text.empty() ? "" : " ") +
            ("Titled by: " + code_span(fmt::format("{}", fmt::join(why, ", "))) + ".");
  }
  if (!beside.empty()) text += (text.empty() ? "" : " ") + ("Beside it: " + beside + ".");
  return text.empty() ? "" : text + "\n\n";
}

// "2, 5, 3 more": numbers of failures, as they are listed.
std::string numbers_of(const std::vector<size_t>& signatures, size_t left_out) {
  std::vector<std::string> numbers;
  for (const size_t signature : signatures) numbers.push_back(std::to_string(signature + 1));
  numbers.resize(numbers.size() + left_out);
  return some_of(numbers, kMostBeside);
}

std::string perhaps_one_bug(const SignatureGroup& group) {
  std::string text;
  if (!group.related.empty()) {
    text += fmt::format(
        "Perhaps one bug with failure {}: trials of the same cell ended in a crash and in a hang. "
        "A "
        "thread that dies while it holds a lock leaves the others waiting.\n\n",
        numbers_of(group.related, group.related_left_out));
  }
  if (!group.alike.empty() && group.alike != group.related) {
    text +=
        fmt::format("Perhaps one bug with failure {}: much alike.\n\n", numbers_of(group.alike, 0));
  }
  return text;
}

std::string details(const Analysis& analysis, const SignatureGroup& group, size_t number,
                    std::string_view what = "Failure") {
  const FailureExample& first = group.first;
  std::string text = fmt::format("<details{}><summary>{} {}: one of {}</summary>\n\n",
                                 number == 1 ? " open" : "", what, number, group.failures);
  text += rests_on(group) + perhaps_one_bug(group) + what_happened(first) + thread_table(first) +
          markdown_evidence(first) + printed(first) + what_ran_before(group);
  text += "Run this cell alone:\n\n" +
          code_block(rerun_command(analysis, first.arm, to_string(first.cell)), "sh");
  return text + "\n</details>\n\n";
}

}  // namespace

std::string rerun_command(const Analysis& analysis, size_t arm, const std::string& cell) {
  const Arm& worker = analysis.arms.at(arm);
  return shell_command(rerun_arguments(analysis.header, worker.worker, worker.worker_path, cell));
}

std::string markdown_groups(const Analysis& analysis) {
  const FailureGroups found = find_groups(analysis);
  if (found.operations.size() < 2) return "";
  std::string text =
      "## Which failures need the same conditions\n\nCells that differ in one condition alone, "
      "compared by exact tests over all operations (Holm, 1%). Two causes under the same "
      "conditions "
      "cannot be told apart so.\n\n";
  for (const SaidOfFailures& said : said_of_failures(analysis, found)) {
    const std::string words = escaped(said.words, 4000);
    text += said.group ? "- **" + words + "**\n" : "- " + words + "\n";
  }
  const std::string tell = what_would_tell(analysis, found);
  if (!tell.empty()) text += "\n" + tell + "\n";
  return text + "\n";
}

std::string markdown_failures(const Analysis& analysis) {
  if (analysis.signatures.empty()) return "";
  std::vector<std::vector<std::string>> rows{{"", "failure", "trials", "phase", "where"}};
  for (const SignatureGroup& group : analysis.signatures) {
    rows.push_back(
        {std::to_string(rows.size()),
         code_span(group.title) + (group.known ? "" : " (new)") + (group.thin() ? " (thin)" : ""),
         std::to_string(group.failures), phases(group), where_it_failed(analysis, group)});
  }
  std::string text = "## Failures\n\n" + markdown_table(rows);
  text += "\n" + details(analysis, analysis.signatures.front(), 1);
  if (analysis.signatures.size() > 1) text += "The details of the others are in details.md.\n\n";
  return text;
}

std::string markdown_still_computing(const Analysis& analysis) {
  if (analysis.still_computing.empty()) return "";
  std::string text = fmt::format(
      "## Still computing at the limit of {:g} s\n\nNeither passes nor failures: a longer "
      "`--timeout` tells what these trials come to.\n\n",
      analysis.header.timeout_seconds);
  for (size_t i = 0; i < std::min(analysis.still_computing.size(), kMostDetailed); ++i) {
    const SignatureGroup& group = analysis.still_computing[i];
    text += code_span(group.title) + "\n\n" + details(analysis, group, i + 1, "Place");
  }
  return text;
}

std::string markdown_failure_details(const Analysis& analysis) {
  if (analysis.signatures.empty()) return "";
  std::string text = "## Failures\n\n";
  for (size_t i = 0; i < std::min(analysis.signatures.size(), kMostDetailed); ++i) {
    text += code_span(analysis.signatures[i].title) + "\n\n" +
            details(analysis, analysis.signatures[i], i + 1);
  }
  if (analysis.signatures.size() > kMostDetailed) {
    text += fmt::format("The details of {} more are in report.json.\n\n",
                        analysis.signatures.size() - kMostDetailed);
  }
  return text;
}

}  // namespace mpsprobe
