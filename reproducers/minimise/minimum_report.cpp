#include "reproducers/minimise/minimum_report.h"

#include <fmt/format.h>

#include "harness/statistics/interval.h"
#include "reports/claims/comparisons.h"
#include "reports/claims/rate_claim.h"
#include "reports/words/cell_label.h"
#include "reports/words/counted.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostTitle = 300;

std::string k_of_n(const Tally& tally) {
  return fmt::format("{}/{}", tally.failures, tally.trials);
}

/// What is to be known beside k/n: "2 of another signature; 1 not counted".
std::string beside(const Tally& tally) {
  std::string text;
  if (tally.other > 0) text += fmt::format("{} failed with another signature", tally.other);
  if (tally.no_evidence > 0) {
    text += fmt::format("{}{} not counted", text.empty() ? "" : "; ", tally.no_evidence);
  }
  return text;
}

std::string remark(const Reduction& step) {
  const std::string text = beside(step.tally);
  if (step.reason.empty() || text.empty()) return step.reason + text;
  return step.reason + "; " + text;
}

std::string verdict(const Condition& condition, const Tally& unchanged) {
  if (!condition.skipped.empty()) return "not run";
  return change_in_words(condition.corrected_p < kClaimLevel, unchanged.proportion(),
                         condition.tally.proportion());
}

std::string p_text(double p) {
  if (p < 0.001) return "below 0.001";
  // Never rounded to the other side of what is claimed.
  return p < kClaimLevel && p >= kClaimLevel - 0.0005 ? "below 0.05" : fmt::format("{:.3f}", p);
}

std::string runs_in_words(const Tally& reliability) {
  if (reliability.failures == 0) return "";
  if (reliability.failures == reliability.trials) return "Every run failed.";
  const int64_t runs = runs_for_95_percent(reliability);
  return fmt::format(
      "One failure in {:.3g} runs is to be expected; {} {} one with 95%, also at the lowest rate "
      "that fits these.",
      expected_runs(reliability), counted(runs, "runs"), runs == 1 ? "shows" : "show");
}

std::string question_in_words(const RateQuestion& question) {
  return fmt::format(
      "A change was kept where this signature still occurred at a rate of {:.1f}% or more, and "
      "dropped at {:.1f}% or less, each wrong in at most {:.0f}% (Wald's sequential probability "
      "ratio test, at most {} trials; without a decision by then it was dropped). Another "
      "signature was no success.",
      question.often_rate * 100, question.seldom_rate * 100, question.false_often * 100,
      question.most_trials);
}

std::string state_in_words(const Minimum& minimum) {
  switch (minimum.state) {
    case MinimumState::complete:
      return "";
    case MinimumState::not_failing:
      return "The start cell did not fail here, so there is nothing to reduce: " + minimum.note;
    case MinimumState::not_run:
      return "Nothing could run: " + minimum.note;
    case MinimumState::stopped:
      return "Not finished: " + minimum.note + ". What follows is the simplest cell so far.";
  }
  return "";
}

std::string build_in_words(const BuildIdentity& build, const Cell& cell) {
  if (build.version.empty() && build.build_id.empty()) return "library not told";
  std::string text = std::string(info_of(cell.backend).library) + " " +
                     (build.version.empty() ? "of unknown version" : build.version);
  if (!build.git_hash.empty()) text += ", git " + build.git_hash;
  if (!build.build_id.empty()) text += ", build id " + build.build_id;
  return text;
}

std::string path_table(const Minimum& minimum) {
  std::string text =
      "| | failures/runs | change | result | remark |\n|---|---|---|---|---|\n"
      "| | " +
      k_of_n(minimum.baseline) + " | the start cell | | " + escaped(beside(minimum.baseline)) +
      " |\n";
  int number = 0;
  for (const Reduction& step : minimum.steps) {
    const bool kept = step.result == StepResult::kept;
    text += fmt::format("| {} | {} | {} | {} | {} |\n", ++number,
                        step.result == StepResult::skipped ? "" : k_of_n(step.tally),
                        code_span(step.change), kept ? "**kept**" : name_of(step.result),
                        escaped(remark(step)));
  }
  return text;
}

std::string trials_in_words(const Minimum& minimum) {
  return fmt::format("{} of the start cell, {} of {}, {} for the table", minimum.trials.baseline,
                     minimum.trials.steps, counted(minimum.steps.size(), "steps"),
                     minimum.trials.conditions);
}

/// What the table of conditions may have missed, with a space before it; often nothing.
std::string missed_in_words(const Minimum& minimum) {
  if (minimum.condition_trials_missing == 0) return "";
  return fmt::format(
      " A change that halves the rate is seen in fewer than 90% of tables as short as this: that "
      "takes {} of each row (--condition-trials {}).",
      counted(minimum.condition_trials_missing, "trials"), minimum.condition_trials_missing);
}

}  // namespace

std::string condition_table(const Minimum& minimum) {
  std::string text =
      "| change | failures/runs | p | p, corrected | with the change the failure is "
      "|\n|---|---|---|---|---|\n"
      "| none | " +
      k_of_n(minimum.reliability) + " | | | |\n";
  for (const Condition& row : minimum.conditions) {
    if (!row.skipped.empty()) {
      text +=
          fmt::format("| {} | | | | not run: {} |\n", code_span(row.change), escaped(row.skipped));
      continue;
    }
    const std::string other = beside(row.tally);
    text += fmt::format("| {} | {}{} | {} | {} | {} |\n", code_span(row.change), k_of_n(row.tally),
                        other.empty() ? "" : " (" + escaped(other) + ")", p_text(row.p),
                        p_text(row.corrected_p), verdict(row, minimum.reliability));
  }
  return text;
}

std::string step_line(const Reduction& step) {
  const std::string text = remark(step);
  return fmt::format("{:<10} {:>7}  {}{}", name_of(step.result),
                     step.result == StepResult::skipped ? "" : k_of_n(step.tally),
                     printable(step.change), text.empty() ? "" : "  (" + printable(text) + ")");
}

std::string condition_line(const Condition& condition, const Tally& unchanged) {
  const std::string says = verdict(condition, unchanged);
  if (!condition.skipped.empty()) {
    return fmt::format("{:<22} {:>7}  {}  ({})", says, "", printable(condition.change),
                       printable(condition.skipped));
  }
  const std::string other = beside(condition.tally);
  return fmt::format("{:<22} {:>7}  {}  (p {}{}{})", says, k_of_n(condition.tally),
                     printable(condition.change), p_text(condition.corrected_p),
                     other.empty() ? "" : "; ", other);
}

std::string rate_in_words(const Tally& tally) {
  std::string text = confidence_in_words(tally.failures, tally.trials, tally.interval());
  if (const std::string other = beside(tally); !other.empty()) text += " (" + other + ")";
  return text;
}

std::string minimum_terminal(const Minimum& minimum) {
  std::string text;
  if (minimum.simulated) text += "SIMULATED Metal device: no evidence about Apple's software.\n";
  if (const std::string state = state_in_words(minimum); !state.empty()) {
    text += printable(state) + "\n";
  }
  if (minimum.baseline.failures == 0) return text;
  text += fmt::format("\n{:<10} {:>7}  {}\n", "start", k_of_n(minimum.baseline),
                      to_string(minimum.start));
  for (const Reduction& step : minimum.steps) {
    const bool on_path = step.result == StepResult::kept || step.result == StepResult::undone;
    if (on_path) text += step_line(step) + "\n";
  }
  const bool complete = minimum.state == MinimumState::complete;
  text += fmt::format("\n{}: {}\nsignature: {}\n", complete ? "minimal cell" : "simplest so far",
                      to_string(minimum.cell), shortened(printable(minimum.signature), kMostTitle));
  if (complete && minimum.reliability.trials > 0) {
    text += fmt::format("fresh runs: {}. {}\n", rate_in_words(minimum.reliability),
                        runs_in_words(minimum.reliability));
  }
  if (complete && !minimum.conditions.empty()) {
    text += "\neach condition changed alone (is the failure rarer then?):\n";
    for (const Condition& condition : minimum.conditions) {
      text += condition_line(condition, minimum.reliability) + "\n";
    }
    const std::string missed = missed_in_words(minimum);
    if (!missed.empty()) text += missed.substr(1) + "\n";
  }
  return text + fmt::format("\nruns: {}\nagain: {}\n", trials_in_words(minimum),
                            printable(shell_command(minimum.rerun), Lines::keep));
}

std::string minimum_markdown(const Minimum& minimum) {
  std::string text =
      fmt::format("# {}Minimal form of {}\n\n", minimum.simulated ? "SIMULATED: " : "",
                  code_span(minimum.signature, kMostTitle));
  if (minimum.simulated) {
    text +=
        "**This ran on a simulated Metal device. It is no evidence about Apple's software.**\n\n";
  }
  if (const std::string state = state_in_words(minimum); !state.empty()) {
    text += escaped(state, 2000) + "\n\n";
  }
  const bool complete = minimum.state == MinimumState::complete;
  text += fmt::format("- start: {}, {}\n", code_span(to_string(minimum.start)),
                      escaped(rate_in_words(minimum.baseline)));
  if (minimum.baseline.failures > 0) {
    text += fmt::format("- {}: {}\n", complete ? "minimum" : "simplest so far",
                        code_span(to_string(minimum.cell)));
  }
  if (complete && minimum.reliability.trials > 0) {
    text +=
        fmt::format("- in fresh runs of it: {}. {}\n", escaped(rate_in_words(minimum.reliability)),
                    runs_in_words(minimum.reliability));
  }
  text +=
      fmt::format("- worker {}: {}\n- mpsprobe {}, began {}, seed {}\n\n",
                  code_span(minimum.worker), escaped(build_in_words(minimum.build, minimum.cell)),
                  escaped(minimum.mpsprobe_version), escaped(minimum.started), minimum.seed);
  if (minimum.baseline.failures == 0) return text;
  text += code_block(shell_command(minimum.rerun), "sh") + "\n";
  if (complete && !minimum.conditions.empty()) {
    text +=
        "## What each condition changes\n\nOf the minimal cell, each condition is changed alone. p "
        "is Fisher's exact test against the unchanged cell, corrected for all rows by Holm's "
        "method. Below 0.05 the failure is rarer with the change, or more often. Where none was "
        "seen, its rate is below what is said, with 95% confidence." +
        missed_in_words(minimum) + "\n\n" + condition_table(minimum) + "\n";
  }
  text += "## The path\n\n" + question_in_words(minimum.question) + "\n\n" + path_table(minimum);
  return text + "\nRuns: " + trials_in_words(minimum) + ".\n";
}

}  // namespace mpsprobe
