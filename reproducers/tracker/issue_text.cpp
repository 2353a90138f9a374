#include "reproducers/tracker/issue_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <utility>

#include "harness/input/json_shape.h"
#include "harness/statistics/interval.h"
#include "reports/analysis/devices.h"
#include "reports/claims/comparisons.h"
#include "reports/words/cell_label.h"
#include "reports/words/counted.h"
#include "reports/words/report_words.h"
#include "reports/words/safe_text.h"
#include "reports/words/stack_words.h"
#include "reproducers/minimise/minimum_report.h"

namespace mpsprobe {

const SignatureGroup& group_of(const IssueFacts& facts) {
  const auto& groups = facts.analysis->signatures;
  const auto at = std::find_if(groups.begin(), groups.end(), [&](const SignatureGroup& group) {
    return group.title == facts.signature;
  });
  if (at == groups.end()) throw std::invalid_argument("the run has no such signature");
  return *at;
}

std::string machine_fact(const IssueFacts& facts, const char* key) {
  return shortened(printable(text_at(facts.analysis->header.machine, key)), 200);
}

namespace {

constexpr size_t kMostRows = 80;
constexpr size_t kMostFrames = 24;
constexpr size_t kMostLayers = 12;

/// The cell whose table is shown: the reproducer's, or where the run has none that differs from it
/// in threads and iterations alone, the failing one with the fewest threads.
Cell table_cell(const IssueFacts& facts) {
  if (!crash_table(*facts.analysis, facts.cell, facts.signature).empty()) return facts.cell;
  Cell fewest = facts.cell;
  bool found = false;
  for (const SignatureGroup::Where& where : group_of(facts).cells) {
    const Cell cell = parse_cell(where.cell);
    if (where.failures == 0 || (found && cell.threads >= fewest.threads)) continue;
    fewest = cell;
    found = true;
  }
  return fewest;
}

bool is_simulated(const IssueFacts& facts) {
  return facts.analysis->simulated || (facts.minimum != nullptr && facts.minimum->simulated);
}

std::string_view what_happens(const IssueFacts& facts) {
  const Judgement& judgement = group_of(facts).first.judgement;
  if (judgement.outcome == Outcome::wrong_result) {
    return wrong_result_words(*facts.analysis, facts.cell).verb;
  }
  constexpr std::pair<Outcome, std::string_view> kWords[] = {
      {Outcome::signal, "kills the process"},
      {Outcome::assertion, "kills the process"},
      {Outcome::hang, "hangs"},
      {Outcome::exception, "throws"},
      {Outcome::out_of_memory, "runs out of memory"},
      {Outcome::gpu_error, "ends with an error of the GPU"},
      {Outcome::data_race, "has a data race, by ThreadSanitizer"},
      {Outcome::misuse, "breaks a rule of the framework's"}};
  for (const auto& [outcome, words] : kWords) {
    if (outcome == judgement.outcome) return words;
  }
  return "fails";
}

constexpr std::string_view kOwnCommand = "a command of the reporter's own";

/// " with 3 threads"; nothing of a command that was not told how many to have.
std::string with_threads(const Cell& cell) {
  if (cell.backend == Backend::command && cell.threads == 1) return "";
  return " with " + counted(cell.threads, "threads");
}

/// "Running `linear` on MPS from 3 threads at once".
std::string doing_what(const Cell& cell) {
  if (cell.backend == Backend::command) {
    return "Running " + std::string(kOwnCommand) + with_threads(cell) +
           (cell.processes > 1 ? " in " + counted(cell.processes, "processes") : "");
  }
  std::string text =
      "Running " + code_span(api_of(cell)) + " on " + std::string(info_of(cell.backend).in_words);
  if (cell.path != Path::automatic) text += fmt::format(" ({} path)", name_of(cell.path));
  const bool on_main = cell.start == Start::main;
  text += on_main ? " on the main thread" : " from " + counted(cell.threads, "threads");
  if (cell.threads > 1 && !on_main) text += in_turn(cell) ? ", one after the other" : " at once";
  if (cell.processes > 1) text += " in each of " + counted(cell.processes, "processes");
  return text;
}

/// Of the same version, with fewer threads and the same iterations: the most without any failure.
const CrashRow* most_passing(const CrashRow& failing, const std::vector<CrashRow>& table) {
  const CrashRow* most = nullptr;
  for (const CrashRow& row : table) {
    const bool passes = row.version == failing.version && row.threads < failing.threads &&
                        row.iterations == failing.iterations && row.crashed.failures == 0 &&
                        row.otherwise == 0;
    if (passes && (most == nullptr || row.threads > most->threads)) most = &row;
  }
  return most;
}

std::string summary(const IssueFacts& facts, const Cell& cell, const std::vector<CrashRow>& table) {
  std::string text = fmt::format("{} {}: {}.", doing_what(cell), what_happens(facts),
                                 code_span(facts.signature, 400));
  for (const CrashRow& row : table) {
    const bool about = row.threads == cell.threads && row.iterations == cell.iterations;
    if (!about || row.crashed.failures == 0) continue;
    // The versions of what own code calls stand below.
    const std::string what =
        fmt::format("{} {}: ", info_of(cell.backend).library, escaped(row.version));
    text +=
        fmt::format(" {}{}", facts.generic ? "" : what,
                    confidence_in_words(row.crashed.failures, row.crashed.trials, row.crash_rate));
    if (const CrashRow* passing = most_passing(row, table); passing != nullptr) {
      text += fmt::format("; with {}, {}", counted(passing->threads, "threads"),
                          confidence_in_words(0, passing->crashed.trials, passing->crash_rate));
    }
    text += '.';
  }
  return text + " Every run is a process of its own.\n";
}

std::string program(const IssueFacts& facts) {
  std::string text;
  if (!facts.python.empty()) {
    text = "Reproducer, complete:\n\n" + code_block(facts.python, "python") + files_beside(facts);
    for (const std::string& axis : facts.not_expressed) {
      text += "\nIt does not have: " + escaped(axis) + "\n";
    }
    if (!facts.proof.empty()) text += "\n" + escaped(facts.proof, 1000) + "\n";
    return text;
  }
  if (facts.cell.backend == Backend::command) {
    return escaped(facts.why_no_python) +
           " It was run with mpsprobe, a runner that starts each attempt in a fresh process:\n\n" +
           code_block(facts.command, "sh");
  }
  std::string why = facts.why_no_python;
  while (why.ends_with('.')) why.pop_back();
  text = "There is no Python program for this";
  if (!why.empty()) text += ": " + escaped(why);
  text += ". It was run with mpsprobe, a runner that starts each attempt in a fresh process:\n\n";
  return text + code_block(facts.command, "sh");
}

std::string evidence(const IssueFacts& facts) {
  const FailureExample& example = group_of(facts).first;
  std::string text;
  // A race is told by its two stacks, which ThreadSanitizer has printed.
  const bool race =
      example.judgement.outcome == Outcome::data_race && !example.stacks.threads.empty();
  if (!example.excerpt.empty() && !race) {
    text += "What the process printed last:\n\n" + code_block(example.excerpt);
  }
  if (example.event.has_value() && !example.event->text.empty()) {
    text += "\nWhat it caught, in " + escaped(thread_in_words(example.event->thread)) + ":\n\n" +
            code_block(shortened(printable(example.event->text, Lines::keep), 4000));
  }
  for (const ThreadStack& stack : example.stacks.threads) {
    const bool side = stack.thread == kSideOfRace;
    if ((!stack.faulting && !side) || stack.frames.empty()) continue;
    text += (side ? "\n" : "\nStack of ") + escaped(thread_in_words(stack)) + ":\n\n" +
            code_block(stack_in_words(stack.frames, kMostFrames, Entry::fold));
    if (!side) break;
  }
  for (const std::string& remark : example.remarks) text += "\n- " + escaped(remark);
  return example.remarks.empty() ? text : text + "\n";
}

std::string conditions(const IssueFacts& facts) {
  if (facts.minimum == nullptr) return "";
  const Minimum& minimum = *facts.minimum;
  std::string text;
  if (minimum.reliability.trials > 0) {
    text = fmt::format("Reduced to {}; in fresh runs of that, {}.\n",
                       code_span(to_string(minimum.cell), 400),
                       confidence_in_words(minimum.reliability.failures, minimum.reliability.trials,
                                           minimum.reliability.interval()));
  }
  if (minimum.conditions.empty()) return text;
  return text + "\nWith one thing changed:\n\n" + condition_table(minimum);
}

std::string layers(const IssueFacts& facts, const Cell& cell) {
  const Analysis& analysis = *facts.analysis;
  std::string text;
  size_t shown = 0;
  for (const Comparison& comparison : analysis.comparisons) {
    const CellSummary& first = analysis.cells[comparison.first];
    const CellSummary& second = analysis.cells[comparison.second];
    const bool about = first.cell.op == cell.op && first.cell.path == cell.path &&
                       first.cell.threads == cell.threads &&
                       first.cell.iterations == cell.iterations;
    if (!about || ++shown > kMostLayers) continue;
    text += fmt::format("- {} ({}) and {} ({}): {}\n", code_span(first.id, 300),
                        escaped(analysis.arms[first.arm].label), code_span(second.id, 300),
                        escaped(analysis.arms[second.arm].label),
                        escaped(conclusion_in_words(analysis, comparison)));
  }
  return text.empty() ? "" : "Other layers and builds, in the same run:\n\n" + text;
}

std::string versions(const IssueFacts& facts) {
  const Analysis& analysis = *facts.analysis;
  std::string text;
  const auto line = [&text](const char* name, const std::string& value) {
    if (!value.empty()) text += fmt::format("{}: {}\n", name, shortened(printable(value), 300));
  };
  std::set<size_t> arms;
  for (const SignatureGroup::Where& where : group_of(facts).cells) arms.insert(where.arm);
  for (const CellSummary& cell : analysis.cells) {
    if (cell.counted > 0 && cell.cell.op == facts.cell.op) arms.insert(cell.arm);
  }
  for (size_t index : arms) {
    const Arm& arm = analysis.arms[index];
    if (facts.generic) {
      line("Library", arm.name.empty() ? "" : library_in_words(arm));
      line("Python", arm.interpreter);
      for (const std::string& package : arm.packages) line("Package", package);
      line("Device", fmt::format("{}", fmt::join(arm.devices, ", ")));
      text += '\n';
      continue;
    }
    line("PyTorch version", arm.version.empty() ? "none loaded" : arm.version);
    line("PyTorch git hash", arm.git_hash);
    line("Python", arm.interpreter);
    line("PyTorch library's build id", arm.build_id);
    if (arm.stream_pool.has_value()) {
      line("MPSStreamPool in the library", *arm.stream_pool ? "yes" : "no");
    }
    line("Device", fmt::format("{}", fmt::join(arm.devices, ", ")));
    text += arm.proved ? "" : "(as its worker described it; no process of a run said so)\n";
    text += '\n';
  }
  const std::string architecture = machine_fact(facts, "architecture");
  line("OS", machine_fact(facts, "os") + (architecture.empty() ? "" : " (" + architecture + ")"));
  line("OS build", machine_fact(facts, "os_build"));
  line("Model", machine_fact(facts, "model"));
  line("CPU", machine_fact(facts, "chip"));
  const bool in_python = std::any_of(arms.begin(), arms.end(), [&](size_t arm) {
    return !analysis.arms[arm].interpreter.empty();
  });
  const std::string measured = "mpsprobe " + analysis.header.mpsprobe_version;
  line("Measured with",
       measured + (facts.generic || in_python ? "" : ", which runs LibTorch without Python"));
  if (facts.generic || in_python) return code_block(text);
  return code_block(text) +
         "\nOnly what was measured; Python and its packages took no part. `python -m "
         "torch.utils.collect_env` adds them where the program above is run.\n";
}

}  // namespace

std::string runs_table(const IssueFacts& facts, const Cell& cell,
                       const std::vector<CrashRow>& table, std::string_view library) {
  // Of a command without {threads} the summary has said it all.
  if (table.empty() || (cell.backend == Backend::command && table.size() == 1)) return "";
  const auto otherwise = [](const CrashRow& row) { return row.otherwise > 0; };
  const bool others = std::any_of(table.begin(), table.end(), otherwise);
  std::string text = fmt::format("Runs of {} by threads and iterations a thread:\n\n",
                                 code_span(cell_label(cell, {"threads", "iterations"}), 300));
  text += fmt::format(
      "| {} | threads | iterations | crashed / total |{}\n| --- | --- | --- | --- |{}\n", library,
      others ? " failed otherwise |" : "", others ? " --- |" : "");
  for (size_t i = 0; i < std::min(table.size(), kMostRows); ++i) {
    const CrashRow& row = table[i];
    text += fmt::format("| {}{} | {} | {} | {} / {} |", escaped(row.version),
                        row.proved ? "" : " (not proved)", row.threads, row.iterations,
                        row.crashed.failures, row.crashed.trials);
    text += others ? fmt::format(" {} |\n", row.otherwise) : "\n";
  }
  if (table.size() > kMostRows) {
    text += fmt::format("\n{} more rows are left out.\n", table.size() - kMostRows);
  }
  const bool dies = group_of(facts).first.judgement.outcome == Outcome::signal ||
                    group_of(facts).first.judgement.outcome == Outcome::assertion;
  return text + (dies ? "" : "\n\"Crashed\" are the runs that failed as in the title.\n");
}

std::string others_in_words(const IssueFacts& facts) {
  std::string text;
  for (const std::string& line : facts.others) text += "- " + escaped(line, 400) + "\n";
  return text.empty()
             ? ""
             : "Other failures in the same cells, or under the same conditions:\n\n" + text;
}

std::string files_beside(const IssueFacts& facts) {
  std::string text;
  for (const EmittedFile& file : facts.beside) {
    text += "\n" + code_span(file.name) + ", beside it:\n\n" + code_block(file.text, "python");
  }
  return text;
}

std::string issue_title(const IssueFacts& facts) {
  const Cell cell = table_cell(facts);
  const SignatureGroup& group = group_of(facts);
  std::string title =
      is_simulated(facts) && facts.analysis->own_mps_code.empty() ? "SIMULATED: " : "";
  if (cell.backend == Backend::mps) title += "[MPS] ";
  const Arm& arm = facts.analysis->arms[group.cells.front().arm];
  if (cell.backend == Backend::mlx) title += fmt::format("MLX {}: ", printable(arm.version));
  title +=
      cell.backend == Backend::command ? "A" + std::string(kOwnCommand.substr(1)) : api_of(cell);
  title += fmt::format(" {}{}", what_happens(facts), with_threads(cell));
  if (cell.stream == StreamUse::per_thread) title += ", each on a stream of its own";
  if (cell.lock == Lock::forward) title += ", under a lock";
  if (cell.backend == Backend::mlx && !arm.devices.empty()) {
    title += fmt::format(" ({})", printable(arm.devices.front()));
  }
  return shortened(title + ": " + printable(facts.signature), kMostIssueTitle);
}

std::string issue_text(const IssueFacts& facts) {
  const Cell cell = table_cell(facts);
  const std::vector<CrashRow> table = crash_table(*facts.analysis, cell, facts.signature);
  std::string head;
  if (is_simulated(facts)) {
    const std::string& own = facts.analysis->own_mps_code;
    head = fmt::format("> **SIMULATED.** {} {}.{}\n\n", own.empty() ? "It" : "What follows",
                       simulation_words(own), own.empty() ? " Not to be filed." : "");
  } else if (facts.analysis->paravirtual) {
    head = "> On the GPU of a virtual Mac (paravirtual), which is no result of a real chip.\n\n";
  }
  head += facts.generic ? "### What happens\n\n" : "### \xF0\x9F\x90\x9B Describe the bug\n\n";
  head += summary(facts, cell, table);
  const std::string tail = "\n### Versions\n\n" + versions(facts);
  // What matters most comes first; what no longer fits is named instead of being cut in its middle.
  std::string body;
  bool left_out = false;
  for (const std::string& section :
       {program(facts), runs_table(facts, cell, table, facts.generic ? "release" : "torch"),
        evidence(facts), others_in_words(facts), conditions(facts), layers(facts, cell)}) {
    if (section.empty()) continue;
    if (head.size() + body.size() + section.size() + tail.size() + 100 > kMostIssueBytes) {
      left_out = true;
      continue;
    }
    body += "\n" + section;
  }
  if (left_out) body += "\nA part is left out here, for want of room.\n";
  return head + body + tail;
}

}  // namespace mpsprobe
