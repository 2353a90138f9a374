#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/statistics/interval.h"
#include "reports/words/counted.h"
#include "reports/words/report_words.h"
#include "reports/words/safe_text.h"
#include "reports/words/stack_words.h"
#include "reproducers/bundle/pages/bundle_texts.h"
#include "reproducers/bundle/pages/bundle_words.h"
#include "reproducers/bundle/redaction/redactor.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostFrames = 8;
constexpr size_t kMostCounts = 8;

std::string one_line(const std::string& text, size_t most) {
  return shortened(printable(text), most);
}

std::string system_in_words(const BundleFinding& finding) {
  const std::string build = finding.machine("os_build");
  return one_line(finding.machine("os") + (build.empty() ? "" : " (" + build + ")"), 100);
}

std::string library_in_words(const BundleFinding& finding) {
  const Arm& arm = finding.arm();
  return arm.version.empty() ? "" : arm.name + " " + one_line(arm.version, 60);
}

std::string prefix_of(const BundleFinding& finding) {
  if (finding.simulated) return "SIMULATED: ";
  return finding.paravirtual ? "PARAVIRTUAL GPU: " : "";
}

/// What follows the watermark, which must stay whole.
std::string class_lines(const BundleFinding& finding) {
  std::string text;
  if (finding.simulated) text += finding.watermark + "\n\n";
  if (finding.paravirtual) {
    text +=
        "Measured on the GPU of a virtual Mac (Apple Paravirtual device), not on a real chip.\n\n";
  }
  return text;
}

std::string steps(const BundleFinding& finding) {
  // Apple's frameworks alone first: it leaves PyTorch out of the question.
  std::vector<Emission> programs = finding.reproduction.programs;
  std::stable_partition(programs.begin(), programs.end(),
                        [](const Emission& program) { return program.kind == Kind::metal; });
  bool others = false;
  for (const Emission& program : programs) {
    if (program.files.empty() || program.kind == Kind::python) continue;
    others = true;
    if (!shown_to_fail(finding, program.kind)) continue;
    const std::string say_how = "Build and run the program in it: its first lines say how.";
    return fmt::format(
        "1. Open a terminal in programs/{}.\n2. {}\n3. {}\n", name_of(program.kind),
        program.build.empty() ? say_how : one_line(program.build, 400),
        program.run.empty() ? "It ends with 1 where it fails." : one_line(program.run, 200));
  }
  std::string text = fmt::format("1. {}\n", rerun_command(finding));
  if (finding.reproduction.needs_code) text += needed_code_in_words(finding) + "\n";
  if (others) text += "The programs in programs/ do the same; they were not shown to fail here.\n";
  return text;
}

std::string expected(const BundleFinding& finding) {
  std::string text = "The operation ends, with the numbers that the CPU computes.";
  for (const CellCount& count : finding.cells) {
    if (!count.control || count.summary->overlap == Overlap::none) continue;
    text += fmt::format(" It did so in {} of {} of {}.", count.summary->counted,
                        counted(count.summary->counted, "runs"),
                        one_line(cell_in_words(count.summary->cell), 120));
    break;
  }
  return text + "\n";
}

std::string actual(const BundleFinding& finding) {
  const FailureExample& first = finding.group->first;
  std::string text = fmt::format("{}, phase {}.\n", outcome_in_words(first.judgement),
                                 name_of(first.judgement.phase));
  size_t shown = 0;
  for (const CellCount& count : finding.cells) {
    if (shown++ == kMostCounts) {
      text += fmt::format("- and {} more cells: report.json\n", finding.cells.size() - kMostCounts);
      break;
    }
    text += "- " + one_line(count_in_words(count), 200) + "\n";
  }
  for (const ThreadStack& stack : first.stacks.threads) {
    const bool side = stack.thread == kSideOfRace;
    if ((!stack.faulting && !side) || stack.frames.empty()) continue;
    text +=
        fmt::format("{}, of the first such run:\n{}",
                    side ? one_line(thread_in_words(stack), 160) : "Stack of the crashed thread",
                    stack_in_words(stack.frames, kMostFrames));
    if (!text.ends_with('\n')) text += '\n';
    if (!side) break;
  }
  const std::vector<std::string> others = others_in_words(finding);
  if (!others.empty()) text += "Other failures in the same cells, or under the same conditions:\n";
  for (const std::string& line : others) text += "- " + one_line(line, 160) + "\n";
  return text;
}

std::string configuration(const BundleFinding& finding) {
  std::string text;
  const auto line = [&text](const char* what, const std::string& value) {
    text += fmt::format("- {}: {}\n", what,
                        value.empty() ? "not told by the run" : one_line(value, 160));
  };
  line("Operating system, build", system_in_words(finding));
  line("Model", finding.machine("model"));
  line("Chip", finding.machine("chip"));
  const Arm& arm = finding.arm();
  if (arm.version.empty() && arm.path.empty()) {
    text += "- Library: none is loaded by this worker\n";
  } else {
    line(arm.name.c_str(), joined({arm.version, arm.git_hash.empty() ? "" : "git " + arm.git_hash,
                                   arm.build_id.empty() ? "" : "id " + arm.build_id}));
  }
  line("Device", joined(finding.smallest().summary->devices));
  line("mpsprobe", finding.evidence->journal.header.mpsprobe_version);
  line("Measured (UTC)", finding.evidence->journal.header.started);
  return text + "One machine: nothing is known here of others.\n";
}

/// What the failure was reduced to, and what it needs.
std::string reduced(const BundleFinding& finding) {
  constexpr size_t kMostConditions = 6;
  const Reproduction& known = finding.reproduction;
  if (!known.minimised || !known.minimum.has_value()) return "";
  const Minimum& minimum = *known.minimum;
  std::string text =
      fmt::format(" Reduced to {}: {} of {} failed.", one_line(cell_in_words(minimum.cell), 160),
                  minimum.reliability.failures, minimum.reliability.trials);
  std::vector<std::string> needed;
  for (const Condition& condition : minimum.conditions) {
    if (!condition.rarer) continue;
    needed.push_back(fmt::format("{} ({} of {})", one_line(condition.change, 60),
                                 condition.tally.failures, condition.tally.trials));
  }
  if (needed.empty()) return text;
  text +=
      " Rarer with each of these changes alone: " + some_of(needed, kMostConditions, "; ") + ".";
  return text;
}

/// The frameworks' own name of what the cell is about: those who read it have no LibTorch.
std::string api_of_frameworks(Cell cell) {
  cell.backend = Backend::metal;
  return api_of(cell);
}

std::string title(const BundleFinding& finding) {
  const Cell& cell = finding.smallest().summary->cell;
  const std::string rest =
      fmt::format(": {}, {} ({})", api_of_frameworks(cell), cell_in_words(cell),
                  joined({system_in_words(finding), one_line(finding.machine("model"), 40),
                          library_in_words(finding)}));
  const std::string prefix = prefix_of(finding);
  const std::string tail = shortened(rest, 120);
  return prefix +
         one_line(without_number(finding.group->title), kMostTitle - prefix.size() - tail.size()) +
         tail;
}

std::string description(const BundleFinding& finding) {
  const CellCount& smallest = finding.smallest();
  std::string misuse;
  for (const std::string& line : misuse_in_words(finding)) {
    misuse += "- " + one_line(line, 300) + "\n";
  }
  // Empty headings, which only a person can fill, stay whatever is cut.
  const std::string for_people =
      "\nImpact on you and your users (yours to write)\n\n\nAnything else (yours to write)\n\n";
  const std::string text = fmt::format(
      "{}What happens\n{} in {}: {}. It failed so in {} of {}, each in fresh processes.{}\n\n"
      "Steps to reproduce\n{}\nExpected\n{}\nActual\n{}\nConfiguration\n{}\n"
      "API misuse\n{}",
      class_lines(finding), api_of_frameworks(smallest.summary->cell),
      one_line(cell_in_words(smallest.summary->cell), 160), one_line(finding.group->title, 200),
      smallest.failures, counted(smallest.summary->counted, "runs"), reduced(finding),
      steps(finding), expected(finding), actual(finding), configuration(finding), misuse);
  return shortened(text, kMostDescription - for_people.size()) + for_people;
}

}  // namespace

std::string apple_issue(const BundleFinding& finding) {
  const CellCount& smallest = finding.smallest();
  const Outcome outcome = finding.group->first.judgement.outcome;
  const bool apple_alone = smallest.summary->cell.backend == Backend::metal;
  const bool goes_on = outcome == Outcome::wrong_result || outcome == Outcome::data_race;
  const char* type = outcome == Outcome::hang ? "Application Slow/Unresponsive"
                     : goes_on                ? "Incorrect/Unexpected Behavior"
                                              : "Application Crash";
  return fmt::format(
      "{}Title, the next line:\n\n{}\n\nDescription, up to the line of dashes:\n\n{}\n{}\n"
      "Suggested for the pop-ups; entries are renamed from time to time, so take the nearest:\n\n"
      "- Where the problem is seen: macOS\n- Area: {}\n- Type of issue: {}\n"
      "- Can it be reproduced: {} ({} of {})\n- Version and build: {}\n"
      "- Attachments: the archive beside this folder, and the system's own crash report\n",
      finding.simulated ? finding.watermark + "\n\n" : "", title(finding), description(finding),
      std::string(40, '-'), apple_alone ? "Metal" : "Metal Performance Shaders, Metal", type,
      smallest.failures == smallest.summary->counted ? "Always" : "Sometimes", smallest.failures,
      counted(smallest.summary->counted, "runs"), system_in_words(finding));
}

}  // namespace mpsprobe
