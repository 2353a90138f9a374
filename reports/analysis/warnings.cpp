#include "reports/analysis/warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "reports/analysis/devices.h"
#include "reports/analysis/gpu_events.h"
#include "reports/words/cell_label.h"
#include "reports/words/counted.h"
#include "reports/words/report_words.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {
namespace {

int count_outcome(const Analysis& analysis, Outcome outcome) {
  int trials = 0;
  for (const CellSummary& cell : analysis.cells) {
    for (const OutcomeCount& count : cell.outcomes) {
      if (count.outcome == outcome) trials += count.trials;
    }
  }
  return trials;
}

void warn_of_gaps(const Analysis& analysis, bool live, std::vector<Warning>& warnings) {
  if (!analysis.has_evidence()) {
    warnings.push_back({"no_evidence",
                        "No trial counts: nothing passed and nothing failed. This run says nothing "
                        "about the product, and it is not green."});
  }
  if (analysis.complete) return;
  std::string why = live ? "the run is still going on" : "the run was killed";
  if (!live && !analysis.ends.empty()) {
    const CampaignEnd& end = analysis.ends.back();
    why = end.reason == "complete" ? "of the others there is no record here, or none that is whole"
                                   : "it ended with \"" + words(printable(end.reason)) + "\"";
    if (!end.note.empty()) why += " (" + shortened(printable(end.note), 200) + ")";
  }
  warnings.push_back(
      {"incomplete", fmt::format("Incomplete: {} of {} {} run; {}. What was not run is "
                                 "no pass.",
                                 analysis.recorded, counted(analysis.planned, "planned trials"),
                                 analysis.planned == 1 ? "was" : "were", why)});
}

void warn_of_open_questions(const Analysis& analysis, std::vector<Warning>& warnings) {
  if (!analysis.settling || analysis.settling->open.empty()) return;
  constexpr size_t kMostNamed = 8;
  const auto& open = analysis.settling->open;
  std::string named;
  // A cell that is on two boundaries is tried once.
  std::map<size_t, int> further;
  for (const SettledQuestions::Open& each : open) {
    int& most = further[each.summary];
    most = std::max(most, each.further);
  }
  size_t told = 0;
  for (const auto& [index, trials] : further) {
    if (told++ == kMostNamed) break;
    const CellSummary& cell = analysis.cells[index];
    named += fmt::format("{}{} (at least {})", named.empty() ? "" : "; ",
                         with_arm(analysis, cell.id, printable(analysis.arms[cell.arm].label)),
                         counted(trials, "more trials"));
  }
  if (further.size() > kMostNamed) {
    named += fmt::format("; and {} more", further.size() - kMostNamed);
  }
  warnings.push_back(
      {"not_settled",
       fmt::format("Not settled: {} of {}. Next would be {}.", open.size(),
                   counted(open.size() + analysis.settling->settled + analysis.settling->given_up,
                           "boundaries"),
                   named)});
}

void warn_of_damage(const Journal& journal, std::vector<Warning>& warnings) {
  if (journal.damaged.empty()) return;
  constexpr size_t kMostNamed = 8;
  std::string lines;
  for (size_t i = 0; i < std::min(journal.damaged.size(), kMostNamed); ++i) {
    lines += fmt::format("{}{} ({})", i == 0 ? "" : "; ", journal.damaged[i].line,
                         printable(journal.damaged[i].why));
  }
  if (journal.damaged.size() > kMostNamed) {
    lines += fmt::format("; and {} more", journal.damaged.size() - kMostNamed);
  }
  warnings.push_back(
      {"journal_damaged", fmt::format("Lines of journal.ndjson are damaged and were skipped: {}. A "
                                      "trial on one counts as not run; --resume runs it again.",
                                      lines)});
}

void warn_of_lost_provenance(const Journal& journal, const TrialFactsList& all,
                             std::vector<Warning>& warnings) {
  std::map<const std::vector<std::string>*, bool> lost;  // what trials share is there once
  int64_t trials = 0;
  for (const TrialFacts& trial : all) {
    const auto [at, fresh] = lost.try_emplace(trial.provenances);
    if (fresh) {
      at->second = std::any_of(
          trial.provenances->begin(), trial.provenances->end(),
          [&journal](const std::string& name) { return is_provenance_lost(journal, name); });
    }
    if (at->second) ++trials;
  }
  if (trials == 0) return;
  warnings.push_back(
      {"provenance_lost",
       fmt::format("Of {} the record of the library that ran is damaged or gone: which build they "
                   "are of is not proved, and they are not added up with others. --resume writes "
                   "it again with the next trial of the same build.",
                   counted(trials, "trials"))});
}

void warn_of_sharing(const Journal& journal, std::vector<Warning>& warnings) {
  const bool on_gpu = journal.header.cells.backends().contains(Backend::cuda);
  if (!on_gpu || journal.header.jobs == 1) return;
  warnings.push_back(
      {"shared_gpu", fmt::format("Up to {} trials shared the GPU: throughput and durations are "
                                 "those of a shared GPU, and not to be compared with others.",
                                 journal.header.jobs)});
}

/// What trials failed of in set-up, the most frequent first: ": 3 of ..., 1 of ...."
std::string why_not_set_up(const Analysis& analysis) {
  std::map<std::string, int> reasons;
  for (const CellSummary& cell : analysis.cells) {
    for (const OutcomeCount& count : cell.outcomes) {
      if (count.outcome == Outcome::setup_failed) reasons[count.detail] += count.trials;
    }
  }
  std::vector<std::pair<int, std::string>> sorted;
  for (const auto& [reason, trials] : reasons) sorted.emplace_back(-trials, reason);
  std::sort(sorted.begin(), sorted.end());
  constexpr size_t kMostReasons = 3;
  std::string text;
  for (size_t i = 0; i < std::min(sorted.size(), kMostReasons); ++i) {
    text += fmt::format("{}{} of \"{}\"", i == 0 ? ": " : ", ", -sorted[i].first,
                        shortened(printable(sorted[i].second), 300));
  }
  if (sorted.size() > kMostReasons) text += " and others";
  return text + ".";
}

// A little more than one, since clocks are read at other moments.
constexpr double kOneProcessor = 1.05;

void warn_of_one_at_a_time(const Analysis& analysis, std::vector<Warning>& warnings) {
  InsideShare sum;
  int64_t number = 0;
  const CellSummary* example = nullptr;
  for (const CellSummary& cell : analysis.cells) {
    if (cell.verdict != Verdict::pass || cell.overlap != Overlap::seen || !cell.inside.known() ||
        cell.inside.processors() > kOneProcessor) {
      continue;
    }
    sum += cell.inside;
    if (number++ == 0) example = &cell;
  }
  if (example == nullptr) return;
  warnings.push_back(
      {"one_at_a_time",
       fmt::format(
           "{} of Python with several threads passed while the process used one processor "
           "or less: {:.2f} on average; of the {} that threads were inside calls, "
           "they themselves computed {:.0f}%. They were inside at once, and may have waited "
           "there for the interpreter's lock, or for a device, for example in {}.",
           counted(number, "cells"), sum.processors(), duration_in_words(sum.inside_seconds),
           100 * sum.computed(), example->id)});
}

/// What limits the worth of some cells: {} is how many, then an example, then what it is that
/// `said` gives of it.
struct CellWarning {
  const char* code;
  bool (*applies)(const CellSummary&);
  const char* text;
  std::string (*said)(const CellSummary&);
};

const std::array<CellWarning, 6> kCellWarnings{{
    {"no_overlap",
     [](const CellSummary& cell) {
       return cell.verdict == Verdict::pass && cell.overlap == Overlap::none;
     },
     "{} with several threads passed without any two threads inside an operation at once, for "
     "example {}: a pass without overlap shows nothing.",
     nullptr},
    {"wrong_path", took_another_path,
     "{} took another path than the cell asks for, for example {} (observed: {}): their results "
     "say nothing about that path.",
     [](const CellSummary& cell) { return shortened(printable(cell.observed_paths.front()), 60); }},
    // Such a cell may be the same as the one of the other path.
    {"path_not_observed", [](const CellSummary& cell) { return !cell.path_unseen.empty(); },
     "Whether {} took the path that the cell asks for was asked in a process of its own and not "
     "seen, for example {}: {}.",
     [](const CellSummary& cell) { return shortened(printable(cell.path_unseen), 200); }},
    {"unchecked",
     [](const CellSummary& cell) { return cell.verdict == Verdict::pass && cell.checked == 0; },
     "In {} that passed no result was compared with the reference, for example {}: wrong numbers "
     "would not have been seen there.",
     nullptr},
    {"validation", [](const CellSummary& cell) { return cell.cell.validation != Validation::none; },
     "{} ran under Metal's validation layers, which hide some failures and invent others: rates of "
     "their own, not to be compared with those without.",
     nullptr},
    {"sanitizer", [](const CellSummary& cell) { return cell.cell.sanitizer != Sanitizer::none; },
     "{} ran under ThreadSanitizer, for example {}: slower, with threads that meet at other "
     "places, "
     "and it sees accesses of code alone that was compiled for it. Rates of their own, not to be "
     "compared with those without.",
     nullptr},
}};

void warn_of_cells(const Analysis& analysis, std::vector<Warning>& warnings) {
  for (const CellWarning& each : kCellWarnings) {
    const CellSummary* example = nullptr;
    int64_t number = 0;
    for (const CellSummary& cell : analysis.cells) {
      if (each.applies(cell) && number++ == 0) example = &cell;
    }
    if (example == nullptr) continue;
    warnings.push_back(
        {each.code, fmt::format(fmt::runtime(each.text), counted(number, "cells"), example->id,
                                each.said == nullptr ? "" : each.said(*example))});
  }
}

void warn_of_missing_banner(const TrialFactsList& all, std::vector<Warning>& warnings) {
  int trials = 0;
  std::string example;
  for (const TrialFacts& trial : all) {
    if (trial.validation_silent && trials++ == 0) example = *trial.cell_id;
  }
  if (trials == 0) return;
  warnings.push_back(
      {"no_validation_banner",
       fmt::format("In {} that ask for Metal's validation its banner was not seen, first in {}: "
                   "the validation was not in force there.",
                   counted(trials, "trials"), example)});
}

// What the observer saw is told wherever it was on, also that it saw nothing.
void warn_of_observed(const TrialFactsList& all, std::vector<Warning>& warnings) {
  int trials = 0;
  int broken = 0;
  int suspected = 0;
  uint64_t calls = 0;
  const TrialFacts* suspicious = nullptr;
  for (const TrialFacts& trial : all) {
    if (!trial.observed) continue;
    ++trials;
    calls += trial.observed_calls;
    if (trial.judgement->outcome == Outcome::misuse) ++broken;
    if (trial.suspicion == nullptr) continue;
    if (suspected++ == 0) suspicious = &trial;
  }
  if (trials == 0) return;
  warnings.push_back(
      {"observed",
       fmt::format("Rules observed: {} in {}, {}. The observer changes the timing: its trials have "
                   "rates of their own, not to be compared with those without.",
                   counted(static_cast<int64_t>(calls), "calls"), counted(trials, "trials"),
                   broken == 0 ? "none broken"
                               : fmt::format("broken by the caller in {} of them", broken))});
  if (suspicious == nullptr) return;
  warnings.push_back(
      {"suspicion",
       fmt::format("In {} the observer saw what may break a rule, first in {}. That is no proof, "
                   "and no failure: {}",
                   counted(suspected, "trials"), *suspicious->cell_id,
                   shortened(printable(*suspicious->suspicion, Lines::join), 600))});
}

void warn_of_bystanders(const Analysis& analysis, std::vector<Warning>& warnings) {
  const Bystanders& bystanders = analysis.bystanders;
  if (bystanders.trials == 0) return;
  const auto were = [](int trials) {
    return trials == 1 ? std::string("1 was") : fmt::format("{} were", trials);
  };
  std::string text = fmt::format(
      "{} failed as {} of a GPU error that the system laid to another process, which is no "
      "evidence. {} run again alone, and only that run counts.",
      counted(bystanders.trials, "trials"), bystanders.trials == 1 ? "a victim" : "victims",
      were(bystanders.rerun));
  if (bystanders.alone > 0) {
    text += fmt::format(
        " {} a victim alone as well, each time: counted as a GPU error whose culprit is not known.",
        were(bystanders.alone));
  }
  warnings.push_back({"bystanders", std::move(text)});
}

void warn_of_gpu_events(const TrialFactsList& all, std::vector<Warning>& warnings) {
  const std::map<size_t, std::vector<GpuEvent>> events = gpu_events_of_trials(all);
  if (events.empty()) return;
  warnings.push_back(
      {"gpu_events",
       fmt::format("The system reported GPU errors or restarts around {}, first around one of {}. "
                   "Such a report names no process for sure: it proves no guilt, and what ran "
                   "beside it may have suffered.",
                   counted(events.size(), "trials"), *all[events.begin()->first].cell_id)});
}

void warn_of_thin_signatures(const Analysis& analysis, std::vector<Warning>& warnings) {
  int64_t thin = 0;
  int failures = 0;
  for (const SignatureGroup& group : analysis.signatures) {
    if (!group.thin()) continue;
    ++thin;
    failures += group.failures;
  }
  if (thin == 0) return;
  warnings.push_back(
      {"thin_signatures",
       fmt::format("{} ({}) {} on nothing but the place where the process was: nothing that was "
                   "told or seen names a cause, and different bugs may share one.",
                   counted(thin, "signatures"), counted(failures, "trials"),
                   thin == 1 ? "rests" : "rest")});
}

void warn_of_same_build(const Analysis& analysis, std::vector<Warning>& warnings) {
  const auto same = std::find_if(
      analysis.comparisons.begin(), analysis.comparisons.end(),
      [](const Comparison& comparison) { return comparison.conclusion == Conclusion::same_build; });
  if (same == analysis.comparisons.end()) return;
  const auto label = [&analysis](size_t cell) {
    return shortened(printable(analysis.arms[analysis.cells[cell].arm].label), 60);
  };
  warnings.push_back(
      {"same_build", fmt::format("The workers {} and {} loaded the same library: to compare them "
                                 "compares nothing. Check what the second one loads.",
                                 label(same->first), label(same->second))});
}

void warn_of_device(const TrialFactsList& all, std::vector<Warning>& warnings) {
  int sick = 0;
  std::string example;
  for (const TrialFacts& trial : all) {
    if (trial.device_sick && sick++ == 0) example = *trial.cell_id;
  }
  if (sick == 0) return;
  warnings.push_back(
      {"sick_device", fmt::format("After {} a known-good cell failed as well, first after {}: "
                                  "what came next may be the device's failure, not the cell's.",
                                  counted(sick, "failures"), example)});
}

}  // namespace

std::vector<Warning> warn(const Journal& journal, const Analysis& analysis,
                          const TrialFactsList& trials, const std::vector<std::string>& divided,
                          int repeated) {
  std::vector<Warning> warnings;
  if (analysis.simulated) {
    const bool all = std::all_of(analysis.cells.begin(), analysis.cells.end(),
                                 [](const CellSummary& cell) { return cell.simulated; });
    warnings.push_back(
        {"simulated", fmt::format("SIMULATED. {} {}.", all ? "Everything here" : "A part of this",
                                  simulation_words(analysis.own_mps_code))});
  }
  if (analysis.paravirtual) {
    warnings.push_back({"paravirtual",
                        "Paravirtual GPU (Apple Paravirtual device, as on hosted Mac runners): a "
                        "class of its own. Do not quote these results for a real chip, or add them "
                        "to results of one."});
  }
  for (const std::string& worker : divided) {
    warnings.push_back(
        {"several_builds",
         fmt::format(
             "Trials of the worker {} ran on different builds or devices, or did not say on "
             "which. They are not added up: each build has rows of its own.",
             shortened(printable(worker), 60))});
  }
  warn_of_gaps(analysis, journal.live, warnings);
  warn_of_open_questions(analysis, warnings);
  warn_of_damage(journal, warnings);
  warn_of_lost_provenance(journal, trials, warnings);
  warn_of_sharing(journal, warnings);
  warn_of_cells(analysis, warnings);
  warn_of_one_at_a_time(analysis, warnings);
  warn_of_observed(trials, warnings);
  warn_of_missing_banner(trials, warnings);
  warn_of_same_build(analysis, warnings);
  warn_of_device(trials, warnings);
  warn_of_gpu_events(trials, warnings);
  warn_of_bystanders(analysis, warnings);
  warn_of_thin_signatures(analysis, warnings);
  const int broken = count_outcome(analysis, Outcome::infrastructure) +
                     count_outcome(analysis, Outcome::setup_failed);
  if (broken > 0) {
    warnings.push_back(
        {"not_counted", fmt::format("{} failed in set-up or for reasons outside the product, and "
                                    "are no evidence either way{}",
                                    counted(broken, "trials"), why_not_set_up(analysis))});
  }
  if (repeated > 0) {
    warnings.push_back(
        {"repeated", fmt::format("The journal holds {} a second time; only the first record "
                                 "counts.",
                                 counted(repeated, "trials"))});
  }
  if (journal.torn) {
    warnings.push_back({"torn", "The journal's last line was cut off by a kill and is left out."});
  }
  return warnings;
}

}  // namespace mpsprobe
