#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <span>

#include "harness/input/json_shape.h"
#include "reports/analysis/devices.h"
#include "reports/analysis/steps.h"
#include "reports/words/cell_label.h"
#include "reports/words/counted.h"
#include "reports/words/report_words.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostNamed = 8;
constexpr double kBusy = 0.5;  // of the machine's processors

/// How many of the items are such, and the first of them; null where none is.
template <typename Items, typename Applies>
auto such(const Items& items, const Applies& applies) {
  std::pair<int64_t, decltype(&*items.begin())> found{0, nullptr};
  for (const auto& item : items) {
    if (applies(item) && found.first++ == 0) found.second = &item;
  }
  return found;
}

/// What limits the worth of some cells: {} is how many, then an example, then what it is that
/// `said` gives of it.
struct CellWarning {
  const char* code;
  bool (*applies)(const CellSummary&);
  const char* text;
  std::string (*said)(const CellSummary&);
};

/// How many calls a thread of it made in each passing trial, on average.
uint64_t calls_of_a_thread(const CellSummary& cell) {
  const auto threads = static_cast<uint64_t>(cell.counted - cell.failures) *
                       static_cast<uint64_t>(cell.cell.threads) *
                       static_cast<uint64_t>(cell.cell.processes) *
                       static_cast<uint64_t>(cell.cell.churn);
  return threads == 0 ? 0 : (cell.checked + cell.unchecked) / threads;
}

const std::array<CellWarning, 7> kCellWarnings{{
    {"no_overlap",
     [](const CellSummary& cell) {
       return cell.verdict == Verdict::pass && cell.overlap == Overlap::none;
     },
     "{} with several threads passed without any two threads inside an operation at once, for "
     "example {}: a pass without overlap shows nothing.",
     nullptr},
    {"more_iterations",
     [](const CellSummary& cell) {
       // With end=exit threads work until the process has ended, whoever was inside.
       return cell.cell.end != End::exit &&
              calls_of_a_thread(cell) > static_cast<uint64_t>(cell.cell.iterations);
     },
     "{} called their function on after the last iteration, for example {} ({} calls a thread on "
     "average): no two threads had been inside it at once.",
     [](const CellSummary& cell) { return std::to_string(calls_of_a_thread(cell)); }},
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

// A little more than one, since clocks are read at other moments.
constexpr double kOneProcessor = 1.05;

/// Each says what limits the worth of a run in one way, or nothing.
class Limits {
 public:
  Limits(const Journal& journal, const Analysis& analysis, const TrialFactsList& trials,
         int repeated)
      : journal_(journal), analysis_(analysis), trials_(trials), repeated_(repeated) {}

  std::string simulated() const {
    if (!analysis_.simulated) return "";
    const bool all = std::all_of(analysis_.cells.begin(), analysis_.cells.end(),
                                 [](const CellSummary& cell) { return cell.simulated; });
    return fmt::format("SIMULATED. {} {}.", all ? "Everything here" : "A part of this",
                       simulation_words(analysis_.own_mps_code));
  }

  std::string paravirtual() const {
    if (!analysis_.paravirtual) return "";
    return "Paravirtual GPU (Apple Paravirtual device, as on hosted Mac runners): a class of its "
           "own. Do not quote these results for a real chip, or add them to results of one.";
  }

  std::string no_evidence() const {
    if (analysis_.has_evidence()) return "";
    return "No trial counts: nothing passed and nothing failed. This run says nothing about the "
           "product, and it is not green.";
  }

  std::string busy_machine() const {
    const nlohmann::json& cores = member(journal_.header.machine, "cores");
    double others = 0;
    for (const CampaignEnd& end : analysis_.ends)
      others = std::max(others, end.processors_of_others);
    if (!cores.is_number() || others < kBusy * cores.get<double>()) return "";
    return fmt::format(
        "Other programs used {:.1f} of {} processors while it ran: a thread that gets none looks "
        "as if it hung, and rates may be others than on an idle machine.",
        others, cores.get<double>());
  }

  std::string incomplete() const {
    if (analysis_.complete) return "";
    std::string why = journal_.live ? "the run is still going on" : "the run was killed";
    if (!journal_.live && !analysis_.ends.empty()) {
      const CampaignEnd& end = analysis_.ends.back();
      why = end.reason == "complete"
                ? "of the others there is no record here, or none that is whole"
                : "it ended with \"" + words(printable(end.reason)) + "\"";
      if (!end.note.empty()) why += " (" + shortened(printable(end.note), 200) + ")";
    }
    return fmt::format("Incomplete: {} of {} {} run; {}. What was not run is no pass.",
                       analysis_.recorded, counted(analysis_.planned, "planned trials"),
                       analysis_.planned == 1 ? "was" : "were", why);
  }

  std::string not_settled() const {
    if (!analysis_.settling || analysis_.settling->open.empty()) return "";
    const SettledQuestions& settling = *analysis_.settling;
    std::map<size_t, int> further;  // a cell that is on two boundaries is tried once
    for (const SettledQuestions::Open& each : settling.open) {
      further[each.summary] = std::max(further[each.summary], each.further);
    }
    std::vector<std::string> cells;
    for (const auto& [index, trials] : further) {
      const CellSummary& cell = analysis_.cells[index];
      cells.push_back(
          fmt::format("{} (at least {})",
                      with_arm(analysis_, cell.id, printable(analysis_.arms[cell.arm].label)),
                      counted(trials, "more trials")));
    }
    return fmt::format(
        "Not settled: {} of {}. Next would be {}.", settling.open.size(),
        counted(settling.open.size() + settling.settled + settling.given_up, "boundaries"),
        some_of(cells, kMostNamed, "; "));
  }

  std::string journal_damaged() const {
    std::vector<std::string> lines;
    for (const auto& damaged : journal_.damaged) {
      lines.push_back(fmt::format("{} ({})", damaged.line, printable(damaged.why)));
    }
    if (lines.empty()) return "";
    return fmt::format(
        "Lines of journal.ndjson are damaged and were skipped: {}. A trial on one counts as not "
        "run; --resume runs it again.",
        some_of(lines, kMostNamed, "; "));
  }

  std::string provenance_lost() const {
    std::map<const std::vector<std::string>*, bool> lost;  // what trials share is there once
    const auto found = such(trials_, [&](const TrialFacts& trial) {
      const auto [at, fresh] = lost.try_emplace(trial.provenances);
      if (fresh) {
        at->second = std::any_of(
            trial.provenances->begin(), trial.provenances->end(),
            [this](const std::string& name) { return is_provenance_lost(journal_, name); });
      }
      return at->second;
    });
    if (found.first == 0) return "";
    return fmt::format(
        "Of {} the record of the library that ran is damaged or lost: which build they are of is "
        "not proved, and they are not added up with others. --resume writes it again with the next "
        "trial of the same build.",
        counted(found.first, "trials"));
  }

  std::string shared_gpu() const {
    const bool on_gpu = journal_.header.cells.backends().contains(Backend::cuda);
    if (!on_gpu || journal_.header.jobs == 1) return "";
    return fmt::format(
        "Up to {} trials shared the GPU: throughput and durations are those of a shared GPU, and "
        "not to be compared with others.",
        journal_.header.jobs);
  }

  std::string one_at_a_time() const {
    InsideShare sum;
    const auto [number, example] = such(analysis_.cells, [&sum](const CellSummary& cell) {
      const bool alone = cell.verdict == Verdict::pass && cell.overlap == Overlap::seen &&
                         cell.inside.known() && cell.inside.processors() <= kOneProcessor;
      if (alone) sum += cell.inside;
      return alone;
    });
    if (number == 0) return "";
    return fmt::format(
        "{} of Python with several threads passed while the process used one processor or less: "
        "{:.2f} on average; of the {} that threads were inside calls, they themselves computed "
        "{:.0f}%. They were inside at once, and may have waited there for the interpreter's lock, "
        "or for a device, for example in {}.",
        counted(number, "cells"), sum.processors(), duration_in_words(sum.inside_seconds),
        100 * sum.computed(), example->id);
  }

  // What the observer saw is told wherever it was on, also that it saw nothing.
  std::string observed() const {
    uint64_t calls = 0;
    for (const TrialFacts& trial : trials_) calls += trial.observed_calls;
    const auto all = such(trials_, [](const TrialFacts& trial) { return trial.observed; });
    const auto broken = such(trials_, [](const TrialFacts& trial) {
      return trial.observed && trial.judgement->outcome == Outcome::misuse;
    });
    if (all.first == 0) return "";
    return fmt::format(
        "Rules observed: {} in {}, {}. The observer changes the timing: its trials have rates of "
        "their own, not to be compared with those without.",
        counted(static_cast<int64_t>(calls), "calls"), counted(all.first, "trials"),
        broken.first == 0 ? "none broken"
                          : fmt::format("broken by the caller in {} of them", broken.first));
  }

  std::string suspicion() const {
    const auto [trials, first] =
        such(trials_, [](const TrialFacts& trial) { return trial.suspicion != nullptr; });
    if (trials == 0) return "";
    return fmt::format(
        "In {} the observer saw what may break a rule, first in {}. That is no proof, and no "
        "failure: {}",
        counted(trials, "trials"), *first->cell_id,
        shortened(printable(*first->suspicion, Lines::join), 600));
  }

  std::string no_validation_banner() const {
    const auto [trials, first] =
        such(trials_, [](const TrialFacts& trial) { return trial.validation_silent; });
    if (trials == 0) return "";
    return fmt::format(
        "In {} that ask for Metal's validation its banner was not seen, first in {}: the "
        "validation was not in force there.",
        counted(trials, "trials"), *first->cell_id);
  }

  std::string same_build() const {
    const auto same = such(analysis_.comparisons, [](const Comparison& comparison) {
      return comparison.conclusion == Conclusion::same_build;
    });
    if (same.first == 0) return "";
    const auto label = [this](size_t cell) {
      return shortened(printable(analysis_.arms[analysis_.cells[cell].arm].label), 60);
    };
    return fmt::format(
        "The workers {} and {} loaded the same library: to compare them compares nothing. Check "
        "what the second one loads.",
        label(same.second->first), label(same.second->second));
  }

  std::string sick_device() const {
    const auto [sick, first] =
        such(trials_, [](const TrialFacts& trial) { return trial.device_sick; });
    if (sick == 0) return "";
    return fmt::format(
        "After {} a known-good cell failed as well, first after {}: what came next may be the "
        "device's failure, not the cell's.",
        counted(sick, "failures"), *first->cell_id);
  }

  std::string gpu_events() const {
    const std::map<size_t, std::vector<GpuEvent>> events = gpu_events_of_trials(trials_);
    if (events.empty()) return "";
    return fmt::format(
        "The system reported GPU errors or restarts around {}, first around one of {}. Such a "
        "report names no process for sure: it proves no guilt, and what ran beside it may have "
        "suffered.",
        counted(events.size(), "trials"), *trials_[events.begin()->first].cell_id);
  }

  std::string bystanders() const {
    const Bystanders& bystanders = analysis_.bystanders;
    if (bystanders.trials == 0) return "";
    const auto were = [](int trials) {
      return trials == 1 ? std::string("1 was") : fmt::format("{} were", trials);
    };
    return fmt::format(
               "{} failed as {} of a GPU error that the system laid to another process, which is "
               "no evidence. {} run again alone, and only that run counts.",
               counted(bystanders.trials, "trials"),
               bystanders.trials == 1 ? "a victim" : "victims", were(bystanders.rerun)) +
           (bystanders.alone == 0
                ? ""
                : fmt::format(" {} a victim alone as well, each time: counted as a GPU error whose "
                              "culprit is not known.",
                              were(bystanders.alone)));
  }

  std::string thin_signatures() const {
    int failures = 0;
    const auto thin = such(analysis_.signatures, [&failures](const SignatureGroup& group) {
      if (group.thin()) failures += group.failures;
      return group.thin();
    });
    if (thin.first == 0) return "";
    return fmt::format(
        "{} ({}) {} on nothing but the place where the process was: nothing that was told or seen "
        "names a cause, and different bugs may share one.",
        counted(thin.first, "signatures"), counted(failures, "trials"),
        thin.first == 1 ? "rests" : "rest");
  }

  std::string not_counted() const {
    int trials = 0;
    std::map<std::string, int> reasons;
    for (const CellSummary& cell : analysis_.cells) {
      for (const OutcomeCount& count : cell.outcomes) {
        const bool set_up = count.outcome == Outcome::setup_failed;
        if (set_up || count.outcome == Outcome::infrastructure) trials += count.trials;
        if (set_up) reasons[count.detail] += count.trials;
      }
    }
    if (trials == 0) return "";
    std::vector<std::pair<int, std::string>> sorted;  // the most frequent first
    for (const auto& [reason, number] : reasons) sorted.emplace_back(-number, reason);
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::string> why;
    for (const auto& [number, reason] : sorted) {
      why.push_back(fmt::format("{} of \"{}\"", -number, shortened(printable(reason), 300)));
    }
    return fmt::format(
        "{} failed in set-up or for reasons outside the product, and are no evidence either "
        "way{}{}.",
        counted(trials, "trials"), why.empty() ? "" : ": ", some_of(why, 3));
  }

  std::string repeated() const {
    if (repeated_ == 0) return "";
    return fmt::format("The journal holds {} a second time; only the first record counts.",
                       counted(repeated_, "trials"));
  }

  std::string torn() const {
    return journal_.torn ? "The journal's last line was cut off by a kill and is left out." : "";
  }

 private:
  const Journal& journal_;
  const Analysis& analysis_;
  const TrialFactsList& trials_;
  int repeated_;
};

struct Limit {
  const char* code;
  std::string (Limits::*text)() const;
};
constexpr std::array<Limit, 2> kOfTheDevice{
    {{"simulated", &Limits::simulated}, {"paravirtual", &Limits::paravirtual}}};
constexpr std::array<Limit, 7> kOfTheRun{{{"no_evidence", &Limits::no_evidence},
                                          {"busy_machine", &Limits::busy_machine},
                                          {"incomplete", &Limits::incomplete},
                                          {"not_settled", &Limits::not_settled},
                                          {"journal_damaged", &Limits::journal_damaged},
                                          {"provenance_lost", &Limits::provenance_lost},
                                          {"shared_gpu", &Limits::shared_gpu}}};
constexpr std::array<Limit, 12> kOfTrials{{{"one_at_a_time", &Limits::one_at_a_time},
                                           {"observed", &Limits::observed},
                                           {"suspicion", &Limits::suspicion},
                                           {"no_validation_banner", &Limits::no_validation_banner},
                                           {"same_build", &Limits::same_build},
                                           {"sick_device", &Limits::sick_device},
                                           {"gpu_events", &Limits::gpu_events},
                                           {"bystanders", &Limits::bystanders},
                                           {"thin_signatures", &Limits::thin_signatures},
                                           {"not_counted", &Limits::not_counted},
                                           {"repeated", &Limits::repeated},
                                           {"torn", &Limits::torn}}};

}  // namespace

std::vector<Warning> warn(const Journal& journal, const Analysis& analysis,
                          const TrialFactsList& trials, const std::vector<std::string>& divided,
                          int repeated) {
  std::vector<Warning> warnings;
  const Limits limits(journal, analysis, trials, repeated);
  const auto add = [&](std::span<const Limit> of) {
    for (const auto& [code, text] : of) {
      std::string said = (limits.*text)();
      if (!said.empty()) warnings.push_back({code, std::move(said)});
    }
  };
  add(kOfTheDevice);
  for (const std::string& worker : divided) {
    warnings.push_back(
        {"several_builds",
         fmt::format("Trials of the worker {} ran on different builds or devices, or did not say "
                     "on which. They are not added up: each build has rows of its own.",
                     shortened(printable(worker), 60))});
  }
  add(kOfTheRun);
  for (const CellWarning& each : kCellWarnings) {
    const auto [number, example] = such(analysis.cells, each.applies);
    if (number == 0) continue;
    warnings.push_back(
        {each.code, fmt::format(fmt::runtime(each.text), counted(number, "cells"), example->id,
                                each.said == nullptr ? "" : each.said(*example))});
  }
  add(kOfTrials);
  return warnings;
}

}  // namespace mpsprobe
