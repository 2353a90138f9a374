#include <fmt/format.h>

#include <algorithm>

#include "harness/campaign/rerun.h"
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
  std::vector<std::string> phases;
  for (const auto& [phase, trials] : group.phases) {
    phases.push_back(group.phases.size() == 1 ? phase : fmt::format("{} {}", phase, trials));
  }
  return joined(phases);
}

std::string what_happened(const FailureExample& example) {
  const Judgement& judgement = example.judgement;
  std::string text = fmt::format("Trial {}{} of {}: {}", example.trial, seed_in_words(example.seed),
                                 code_span(to_string(example.cell)),
                                 escaped(failure_kind(judgement.outcome, judgement.detail), 80));
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
  std::vector<std::string> parts;
  if (group.basis == Basis::text) parts.emplace_back("Rests on: text.");
  if (group.basis == Basis::frames) parts.emplace_back("Rests on: frames.");
  if (group.thin()) {
    parts.emplace_back(
        "Rests on: only the place where the process was. **Thin:** nothing that was told or seen "
        "names a cause, and different bugs may share this signature.");
  }
  std::vector<std::string> titles;
  for (const SignatureGroup::Beside& found : group.also) {
    titles.push_back(fmt::format("{}{} ({}×)", code_span(found.finding.title),
                                 found.finding.known ? "" : " (new)", found.trials));
  }
  titles.resize(titles.size() + group.also_left_out);
  if (const std::vector<std::string>& why = group.first.judgement.why; !why.empty()) {
    parts.push_back("Titled by: " + code_span(joined(why)) + ".");
  }
  if (!titles.empty()) parts.push_back("Beside it: " + some_of(titles, kMostBeside) + ".");
  return parts.empty() ? "" : joined(parts, " ") + "\n\n";
}

std::string perhaps_one_bug(const SignatureGroup& group) {
  if (group.related.empty()) return "";
  std::vector<std::string> numbers;  // as failures are listed
  for (const size_t signature : group.related) numbers.push_back(std::to_string(signature + 1));
  numbers.resize(numbers.size() + group.related_left_out);
  return fmt::format(
      "Perhaps one bug with failure {}: trials of the same cell ended in a crash and in a hang. A "
      "thread that dies while it holds a lock leaves the others waiting.\n\n",
      some_of(numbers, kMostBeside));
}

std::string details(const Analysis& analysis, const SignatureGroup& group, size_t number,
                    std::string_view what) {
  const FailureExample& first = group.first;
  std::string text = fmt::format("<details{}><summary>{} {}: one of {}</summary>\n\n",
                                 number == 1 ? " open" : "", what, number, group.failures);
  text += rests_on(group) + perhaps_one_bug(group) + what_happened(first) + thread_table(first) +
          markdown_evidence(first) + printed(first) + what_ran_before(group);
  text += "Run this cell alone:\n\n" +
          code_block(rerun_command(analysis, first.arm, to_string(first.cell)), "sh");
  return text + "\n</details>\n\n";
}

std::string details_of_all(const Analysis& analysis, const std::vector<SignatureGroup>& groups,
                           std::string text, std::string_view what) {
  if (groups.empty()) return "";
  for (size_t i = 0; i < std::min(groups.size(), kMostDetailed); ++i) {
    text += code_span(groups[i].title) + "\n\n" + details(analysis, groups[i], i + 1, what);
  }
  if (groups.size() > kMostDetailed) {
    text += fmt::format("The details of {} more are in report.json.\n\n",
                        groups.size() - kMostDetailed);
  }
  return text;
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
  text += "\n" + details(analysis, analysis.signatures.front(), 1, "Failure");
  if (analysis.signatures.size() > 1) text += "The details of the others are in details.md.\n\n";
  return text;
}

std::string markdown_still_computing(const Analysis& analysis) {
  return details_of_all(
      analysis, analysis.still_computing,
      fmt::format("## Still computing at the limit of {:g} s\n\nNeither passes nor failures: a "
                  "longer `--timeout` tells what these trials come to.\n\n",
                  analysis.header.timeout_seconds),
      "Place");
}

std::string markdown_failure_details(const Analysis& analysis) {
  return details_of_all(analysis, analysis.signatures, "## Failures\n\n", "Failure");
}

}  // namespace mpsprobe
