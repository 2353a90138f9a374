#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "harness/input/json_shape.h"
#include "harness/input/json_text.h"
#include "harness/outcome/refusals.h"
#include "harness/wire/axis.h"
#include "reports/analysis/trial_facts.h"
#include "reports/words/counted.h"
#include "reports/words/report_words.h"
#include "reports/words/safe_text.h"
#include "reports/writers/answer_tables.h"
#include "reports/writers/forms.h"
#include "reports/writers/markdown_sections.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostLeftOut = 4;  // cells named for each reason
constexpr size_t kMostOwn = 3;
constexpr size_t kMostAlone = 12;
constexpr size_t kMostPackages = 40;
constexpr size_t kMostPairs = 12;
constexpr size_t kMostPairsInDetail = 2000;

// "infer of app.py": what somebody's own code that ran is called; empty where none did.
std::string own_code(const Analysis& analysis) {
  std::set<std::string> ran;
  for (const CellSummary& cell : analysis.cells) ran.insert(cell.cell.op);
  std::vector<std::string> names;
  for (const WorkerInfo& worker : analysis.header.workers) {
    const bool command = member(member(worker.describe, "provenance"), "own_command") == true;
    for (const nlohmann::json& operation : member(worker.describe, "operations")) {
      const std::string name = text_at(operation, "name");
      const bool own =
          !text_at(operation, "own_function").empty() || !text_at(operation, "own_test").empty();
      if (!ran.contains(name) || (!own && !command)) continue;
      names.push_back(escaped(command ? name : text_at(operation, "summary"), 80));
    }
  }
  // Of a whole suite one tells what it is.
  return names.empty() ? "" : some_of(names, names.size() <= kMostOwn ? kMostOwn : 1);
}

std::string title(const Analysis& analysis, std::string_view what) {
  std::string text = fmt::format("# {}mpsprobe {}", class_prefix(analysis), what);
  const CampaignHeader& header = analysis.header;
  const std::string own = own_code(analysis);
  if (!own.empty()) {
    text += ": " + own;
    const std::string library = analysis.arms.size() == 1 ? library_in_words(analysis.arms[0]) : "";
    if (!library.empty()) text += " on " + escaped(library, 80);
  } else if (!header.matrix_name.empty()) {
    text += ", matrix " + escaped(header.matrix_name, 80);
  }
  text += "\n\n";
  if (!header.matrix_description.empty()) text += escaped(header.matrix_description) + "\n\n";
  return text;
}

std::string summary(const Analysis& analysis) {
  int verdicts[4] = {0, 0, 0, 0};
  size_t without = analysis.cells_not_listed;
  int unmet = 0;
  int expectations = 0;
  for (const CellSummary& cell : analysis.cells) {
    if (cell.verdict) {
      ++verdicts[static_cast<size_t>(*cell.verdict)];
    } else {
      ++without;
    }
    if (cell.expected == Expected::unmet) ++unmet;
    if (cell.expected != Expected::nothing) ++expectations;
  }
  std::string text = fmt::format("{}: **{} pass, {} fail, {} intermittent**", totals(analysis),
                                 verdicts[0], verdicts[1], verdicts[2]);
  if (verdicts[3] > 0) text += fmt::format(", {} refused by the library", verdicts[3]);
  if (without > 0) text += fmt::format(", {} without evidence", without);
  if (expectations > 0) {
    text += fmt::format("; {} of {} expectations not met", unmet, expectations);
  }
  if (analysis.cells_not_listed > 0) {
    text += fmt::format("; {} that were not run are not listed", analysis.cells_not_listed);
  }
  return text + ". In the tables: failures / trials that count.\n\n";
}

std::string warnings(const Analysis& analysis) {
  std::string text;
  for (const Warning& warning : analysis.warnings) {
    text += text.empty() ? "" : ">\n";
    const std::string words = escaped(warning.text, 1000);
    text += "> " +
            (warning.code == "simulated" || warning.code == "paravirtual" ? "**" + words + "**"
                                                                          : words) +
            "\n";
  }
  return text.empty() ? "" : text + "\n";
}

std::string some_cells(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = code_span(cell);
  return some_of(cells, kMostLeftOut) + "\n";
}

std::string left_out(const Analysis& analysis) {
  if (analysis.left_out.empty()) return "";
  std::string text = "## Not tested\n\n";
  for (const LeftOutGroup& group : analysis.left_out) {
    text +=
        fmt::format("- {}: {}, {}", escaped(group.reason),
                    counted(group.cells.size() + group.others, "cells"), some_cells(group.cells));
  }
  return text + "\n";
}

// Cells with one thread and nothing beside it that fail: the caller's threads did not bring it
// about.
std::string not_about_threads(const Analysis& analysis) {
  std::vector<std::string> cells;
  for (const CellSummary& cell : analysis.cells) {
    const bool alone = cell.cell.threads == 1 && cell.cell.processes == 1 &&
                       cell.cell.beside == BesideThreads::none;
    if (!alone || cell.failures == 0) continue;
    const std::string counts =
        fmt::format("{} {} of {}", code_span(cell.id), cell.failures, cell.counted);
    cells.push_back(with_arm(analysis, counts, escaped(analysis.arms[cell.arm].label)));
  }
  if (cells.empty()) return "";
  return "## Not about threads\n\nThese fail with one calling thread, and nothing beside it: " +
         some_of(cells, kMostAlone) + ".\n\n";
}

// What libraries refuse, each with the rule that it is told by.
std::string refused(const Analysis& analysis) {
  struct Refused {
    int trials = 0;
    std::vector<std::string> cells;
    std::map<std::string, int> later;  // what those trials came to besides, by title
  };
  std::map<std::string, Refused> rules;
  for (const CellSummary& cell : analysis.cells) {
    for (const OutcomeCount& count : cell.outcomes) {
      if (count.outcome != Outcome::refused) continue;
      Refused& rule = rules[count.detail];
      rule.trials += count.trials;
      if (!rule.cells.empty() && rule.cells.back() == cell.id) continue;
      rule.cells.push_back(cell.id);
      for (const auto& [title, trials] : cell.after_refusal) rule.later[title] += trials;
    }
  }
  if (rules.empty()) return "";
  std::string text = "## Refused by the library\n\n";
  for (const auto& [what, rule] : rules) {
    text += "- " + escaped(what);
    for (const Refusal& known : refusals()) {
      if (known.in_words != what) continue;
      text +=
          fmt::format(" (a rule of {} since {}: <{}>)", known.library, known.since, known.source);
    }
    text += fmt::format(": {} in {}, {}", counted(rule.trials, "trials"),
                        counted(rule.cells.size(), "cells"), some_cells(rule.cells));
    for (const auto& [title, trials] : rule.later) {
      text += fmt::format("  - later, in {} of them: {}\n", trials, escaped(title));
    }
  }
  return text + "\n";
}

std::string loaded_and_stacks(const Analysis& analysis) {
  std::string text;
  for (const Arm& arm : analysis.arms) {
    const std::string by = analysis.arms.size() > 1 ? " by " + escaped(arm.label, 80) : "";
    if (!arm.packages.empty()) {
      text += fmt::format("Packages that were loaded{}: {}.\n\n", by,
                          some_of(arm.packages, kMostPackages));
    }
    // The system's default differs by a factor of 16, and what a deep call needs may lie between.
    for (const uint64_t bytes : arm.stacks) {
      text += fmt::format("Stack of a thread{} where a cell does not say: {} KiB.\n\n", by,
                          bytes / 1024);
    }
  }
  return text;
}

std::string provenance(const Analysis& analysis) {
  std::vector<std::vector<std::string>> rows{
      {"worker", "library", "git", "build id", "stream pool", "file", "device"}};
  const auto span = [](const std::string& value) { return value.empty() ? "?" : code_span(value); };
  for (const Arm& arm : analysis.arms) {
    rows.push_back({escaped(arm.label, 80) + (arm.proved ? "" : " (not proved by a trial)"),
                    span(library_in_words(arm)), span(arm.git_hash), span(arm.build_id),
                    !arm.stream_pool   ? "?"
                    : *arm.stream_pool ? "yes"
                                       : "no",
                    span(arm.path), span(fmt::format("{}", fmt::join(arm.devices, ", ")))});
  }
  return "## What ran\n\n" + markdown_table(rows) + "\n" + loaded_and_stacks(analysis);
}

std::string machine(const Analysis& analysis) {
  const nlohmann::json& facts = analysis.header.machine;
  if (!facts.is_object() || facts.empty()) return "";
  return "## The machine\n\n" + code_block(json_text(facts, 1), "json");
}

std::string reproduce(const Analysis& analysis) {
  const CampaignHeader& header = analysis.header;
  std::string text =
      "## How to reproduce\n\n" + code_block(shell_command(header.command_line), "sh");
  text += fmt::format(
      "\nmpsprobe {}{}, seed {} (order of trials and inputs), {}, {} at a time, time limit "
      "{:g} s, no progress for {:g} s is a hang; begun {}.",
      escaped(header.mpsprobe_version, 40),
      header.mpsprobe_build.empty() ? "" : " (" + escaped(header.mpsprobe_build, 100) + ")",
      header.seed, planned_trials(header, "a cell"), header.jobs, header.timeout_seconds,
      header.stall_seconds, escaped(header.started, 40));
  const uint64_t forked = analysis.starts.at(static_cast<size_t>(StartProcess::fork));
  if (forked > 0) {  // these have their libraries at the same addresses
    text += fmt::format(" {} were forked from one that had loaded the library.",
                        counted(forked, "processes"));
  }
  if (analysis.ends.size() > 1) {
    text += fmt::format(" It was run in {} pieces.", analysis.ends.size());
  }
  if (analysis.seconds > 0) {
    text += fmt::format(" Trials took {}.", duration_in_words(analysis.seconds));
  }
  if (analysis.sampling == Sampling::looking) {
    text += fmt::format(" Intervals: {}.", interval_method(analysis.sampling));
  }
  return text +
         " More: details.md (each failure, throughput, the machine); raw trials: report.json.\n";
}

}  // namespace

std::string report_markdown(const Analysis& analysis) {
  return title(analysis, "report") + markdown_answer(analysis) + warnings(analysis) +
         summary(analysis) + markdown_verdicts(analysis) + markdown_groups(analysis) +
         markdown_failures(analysis) + not_about_threads(analysis) +
         markdown_rate_claims(analysis) + markdown_layers(analysis, kMostPairs, "details.md") +
         refused(analysis) + left_out(analysis) + provenance(analysis) + reproduce(analysis);
}

std::string details_markdown(const Analysis& analysis) {
  return title(analysis, "details") + "What is too long for report.md.\n\n" +
         markdown_failure_details(analysis) + markdown_still_computing(analysis) +
         markdown_layers(analysis, kMostPairsInDetail, "report.json") +
         markdown_throughput(analysis) + markdown_inside(analysis) + machine(analysis);
}

}  // namespace mpsprobe
