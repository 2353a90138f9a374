// The headline of reports over simulated trials whose truth is known, where it is hard, and a
// reader of what is printed first. The reader knows the counts and the text alone.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "harness/campaign/settling.h"
#include "harness/statistics/simulated_trials_for_tests.h"
#include "harness/test_series.h"
#include "reports/sample_journal_for_tests.h"
#include "reports/writers/forms.h"

namespace mpsprobe {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

/// What makes a headline hard: failures along both axes, kinds of failure, a rate that falls with
/// more threads, a lock that helps at one count and harms at another, refusals among failures, and
/// many cells of rates that are near 0.
enum class HardWorld : uint8_t {
  both_axes,
  two_kinds,
  not_monotone,
  opposite_lock,
  refusals,
  many_cells
};

constexpr std::array<std::pair<HardWorld, const char*>, 6> kHardWorlds{
    {{HardWorld::both_axes, "both axes"},
     {HardWorld::two_kinds, "two kinds of failure"},
     {HardWorld::not_monotone, "not monotone"},
     {HardWorld::opposite_lock, "opposite lock"},
     {HardWorld::refusals, "refusals and failures"},
     {HardWorld::many_cells, "5 to 100 cells, 0 to 40%"}}};

/// The chances of one cell's trials.
struct Planted {
  std::string id;
  double crashes = 0;
  double hangs = 0;
  double refused = 0;
};

std::vector<Planted> planted(HardWorld world, SimulatedTrials& random) {
  constexpr std::array kCounts{1, 2, 3, 4, 8};
  const auto threads = [](int count) { return fmt::format("mps/mlp/default/threads={}", count); };
  const double high = 0.3 + 0.65 * random.uniform();
  const double low = 0.02 + 0.2 * random.uniform();
  const int from = kCounts.at(static_cast<size_t>(1 + 3 * random.uniform()));
  std::vector<Planted> cells;
  for (const int count : kCounts) {
    const double rate = count >= from ? high : 0;
    switch (world) {
      case HardWorld::both_axes:
        cells.push_back({threads(count), rate});
        if (count > 1) {
          cells.push_back({fmt::format("mps/mlp/default/threads=1/processes={}", count), 0, 0});
          cells.back().crashes = count >= 4 ? low : 0;
        }
        break;
      case HardWorld::two_kinds:
        cells.push_back({threads(count), count == 8 ? high : 0, count >= from ? low : 0});
        break;
      case HardWorld::not_monotone:
        cells.push_back({threads(count), count == from ? high : low / 10});
        break;
      case HardWorld::opposite_lock:
        cells.push_back({threads(count), count == 2 ? 0.9 : count == 8 ? 0.1 : 0});
        cells.push_back({threads(count) + "/lock=forward", count == 2   ? 0.1
                                                           : count == 8 ? 0.9
                                                                        : 0});
        break;
      case HardWorld::refusals:
        cells.push_back({threads(count), rate, 0, count >= 3 ? 0.3 + 0.4 * random.uniform() : 0});
        cells.push_back({threads(count) + "/lock=forward", rate / 8, 0, count >= 3 ? 0.5 : 0});
        break;
      case HardWorld::many_cells:
        break;
    }
  }
  if (world == HardWorld::many_cells) {
    const int number = 5 + static_cast<int>(95 * random.uniform());
    const double most = 0.4 * random.uniform();
    const bool alike = random.fails(0.5);
    for (int i = 1; i <= number; ++i) {
      cells.push_back({fmt::format("mps/mlp/default/threads=4/iterations={}", i),
                       alike ? most : most * random.uniform()});
    }
  }
  return cells;
}

struct Tally {
  int crashes = 0;
  int hangs = 0;
  int refused = 0;
  int passed = 0;

  Proportion seen() const { return {crashes + hangs, crashes + hangs + passed}; }
};

/// One trial; true where it counts.
bool run(const Planted& cell, SimulatedTrials& random, Tally& tally) {
  if (random.fails(cell.refused)) {
    ++tally.refused;
    return false;
  }
  const double chance = random.uniform();
  ++(chance < cell.crashes                ? tally.crashes
     : chance < cell.crashes + cell.hangs ? tally.hangs
                                          : tally.passed);
  return true;
}

void settle(const std::vector<Planted>& cells, SimulatedTrials& random,
            std::vector<Tally>& tallies) {
  std::vector<SeenCell> settling_cells;
  for (size_t i = 0; i < cells.size(); ++i) {
    settling_cells.push_back(
        {"stock", parse_cell(cells[i].id), tallies[i].seen(), tallies[i].refused});
  }
  Settling settling(0.1, std::move(settling_cells));
  constexpr int kMost = 4000;
  for (int trial = 0; trial < kMost; ++trial) {
    const auto next = settling.next([](size_t) { return false; });
    if (!next) break;
    const int failed = tallies[*next].seen().failures;
    const bool counts = run(cells[*next], random, tallies[*next]);
    settling.add(*next, counts, tallies[*next].seen().failures > failed);
  }
}

/// The first lines as a reader has them.
class Reader {
 public:
  explicit Reader(const Analysis& analysis) : analysis_(analysis) {
    std::istringstream stream(report_terminal(analysis, {}));
    for (std::string line; std::getline(stream, line) && !line.starts_with("Tried ");) {
      lines_.push_back(line);
    }
    for (const CellSummary& cell : analysis.cells) {
      if (worst_ == nullptr || cell.seen_rate() > worst_->seen_rate()) worst_ = &cell;
      clear_ += cell.counted > 0 && cell.failures == 0 ? 1 : 0;
      tested_ += cell.counted > 0 ? 1 : 0;
      clear_trials_ += cell.failures == 0 ? cell.counted : 0;
    }
  }

  std::vector<std::string> faults() {
    size_t headline = 0;
    bool worst_named = worst_->failures == 0;
    for (const std::string& line : lines_) {
      check_length(line);
      const bool of_build = line.find("LibTorch") == 0 || line.starts_with("No failure") ||
                            line.find(": no failure") != std::string::npos;
      headline += of_build ? 1 : 0;
      worst_named = worst_named || (of_build && names_worst(line));
      check_counts(line);
      check_clear(line);
      check_lock(line);
      check_settled(line);
    }
    check_opposite();
    if (headline > 3) fault("more than three lines of a build", lines_.front());
    if (!worst_named) fault("hides the worst cell", lines_.front());
    return std::move(faults_);
  }

 private:
  void fault(const std::string& what, const std::string& line) {
    faults_.push_back(what + ": " + line);
  }

  void check_length(const std::string& line) {
    std::istringstream words(line);
    int number = 0;
    for (std::string word; words >> word;) ++number;
    if (number > 30) fault("a sentence of more than 30 words", line);
  }

  static bool is_at(const CellSummary& cell, const std::string& count, const std::string& axis) {
    const bool processes = axis.starts_with("process");
    return std::to_string(processes ? cell.cell.processes : cell.cell.threads) == count &&
           (cell.cell.processes > 1) == processes;
  }

  const CellSummary* cell_named(const std::string& count, const std::string& axis, int failures,
                                int trials) const {
    for (const CellSummary& cell : analysis_.cells) {
      if (is_at(cell, count, axis) && cell.failures == failures && cell.counted == trials) {
        return &cell;
      }
    }
    return nullptr;
  }

  bool names_worst(const std::string& line) const {
    const std::regex clause("(\\d+) (threads?|process(?:es)?): of (\\d+) trials? ([^;.]*)");
    std::smatch found;
    if (!std::regex_search(line, found, clause)) return false;
    return std::any_of(analysis_.cells.begin(), analysis_.cells.end(), [&](const auto& cell) {
      return is_at(cell, found[1], found[2]) && cell.seen_rate() == worst_->seen_rate() &&
             cell.counted + cell.refused == std::stoi(found[3]);
    });
  }

  // Every cell that a line names with counts must have them.
  void check_counts(const std::string& line) {
    const std::regex whole("(\\d+) (threads?|process(?:es)?): of (\\d+) trials? ([^;.]*)");
    for (std::sregex_iterator at(line.begin(), line.end(), whole), end; at != end; ++at) {
      const std::string kinds = (*at)[4];
      const int trials = std::stoi((*at)[3]);
      const bool known =
          std::any_of(analysis_.cells.begin(), analysis_.cells.end(), [&](const CellSummary& cell) {
            return is_at(cell, (*at)[1], (*at)[2]) && cell.counted + cell.refused == trials &&
                   sum_of(kinds, "crash(?:es)?|hangs?") == cell.failures &&
                   sum_of(kinds, "refused") == cell.refused;
          });
      if (!known) fault("no cell has these counts", line);
    }
    const std::regex part("(\\d+) (threads?|process(?:es)?) \\((\\d+) of (\\d+)\\)");
    for (std::sregex_iterator at(line.begin(), line.end(), part), end; at != end; ++at) {
      if (cell_named((*at)[1], (*at)[2], std::stoi((*at)[3]), std::stoi((*at)[4])) == nullptr) {
        fault("no cell has these counts", line);
      }
    }
    const std::regex fewest("fewest: (?:[^;]*, )?(\\d+) (threads?|process(?:es)?) \\(");
    std::smatch found;
    if (!std::regex_search(line, found, fewest)) return;
    const double asked = analysis_.settling ? analysis_.settling->rate : 0;
    for (const CellSummary& cell : analysis_.cells) {
      const bool threads = found[2].str().starts_with("thread");
      if ((cell.cell.processes > 1) == threads || cell.failures == 0) continue;
      const int count = threads ? cell.cell.threads : cell.cell.processes;
      if (count < std::stoi(found[1]) && cell.seen_rate() >= asked) {
        fault("fewer fail than is said", line);
      }
    }
  }

  static int sum_of(const std::string& text, const std::string& what) {
    const std::regex counted("(\\d+) (?:" + what + ")\\b");
    int sum = 0;
    for (std::sregex_iterator at(text.begin(), text.end(), counted), end; at != end; ++at) {
      sum += std::stoi((*at)[1]);
    }
    return sum;
  }

  void check_clear(const std::string& line) {
    const std::regex clear(
        "[Nn]o failure(?: (?:up to|with) \\d+ threads?, and)? in (?:all )?(\\d+) (?:of (\\d+) )?"
        "cells? \\(0 of (\\d+)");
    std::smatch found;
    if (!std::regex_search(line, found, clear)) return;
    if (std::stoi(found[1]) != clear_ || std::stoi(found[3]) != clear_trials_ ||
        (found[2].matched ? std::stoi(found[2]) : clear_) != tested_) {
      fault("not the cells without a failure", line);
    }
    const std::regex up_to("failure (?:up to|with) (\\d+) threads?");
    if (!std::regex_search(line, found, up_to)) return;
    for (const CellSummary& cell : analysis_.cells) {
      if (cell.failures > 0 && cell.cell.processes == 1 &&
          cell.cell.threads <= std::stoi(found[1])) {
        fault("calls clear what failed", line);
      }
    }
  }

  // Whoever reads of a lock must not find counts of this run that go the other way.
  void check_lock(const std::string& line) {
    if (!line.starts_with("With a lock")) return;
    lock_lines_ += line;
    const std::regex pair(
        "(\\d+) threads?: (\\d+) of (\\d+)(?: \\(\\d+ refused\\))?, without it (\\d+) of (\\d+)");
    for (std::sregex_iterator at(line.begin(), line.end(), pair), end; at != end; ++at) {
      if (cell_named((*at)[1], "threads", std::stoi((*at)[2]), std::stoi((*at)[3])) == nullptr ||
          cell_named((*at)[1], "threads", std::stoi((*at)[4]), std::stoi((*at)[5])) == nullptr) {
        fault("no cells have these counts", line);
      }
    }
    const bool failed = std::any_of(
        analysis_.cells.begin(), analysis_.cells.end(),
        [](const auto& cell) { return cell.cell.lock != Lock::none && cell.failures > 0; });
    if (line.find("none failed") != std::string::npos && failed) fault("some failed", line);
  }

  // A lock that clearly helps at one count and harms at another is said so, by the counts of both.
  void check_opposite() {
    bool fewer = false;
    bool more = false;
    for (const CellSummary& cell : analysis_.cells) {
      if (cell.cell.lock == Lock::none || cell.counted == 0) continue;
      for (const CellSummary& other : analysis_.cells) {
        if (other.cell.lock != Lock::none || other.cell.threads != cell.cell.threads) continue;
        fewer = fewer || cell.seen_rate() + 0.5 < other.seen_rate();
        more = more || cell.seen_rate() > other.seen_rate() + 0.5;
      }
    }
    const std::regex pair("threads?: \\d+ of \\d+(?: \\(\\d+ refused\\))?, without it");
    const bool both =
        std::distance(std::sregex_iterator(lock_lines_.begin(), lock_lines_.end(), pair),
                      std::sregex_iterator()) > 1;
    if (fewer && more && !both) fault("hides the opposite effect", lock_lines_);
  }

  void check_settled(const std::string& line) {
    if (line.find("begin to fail") == std::string::npos) return;
    if (line.find("wrong with") != std::string::npos) fault("claims how often it is wrong", line);
    if (line.find(": nowhere") == std::string::npos) return;
    for (const CellSummary& cell : analysis_.cells) {
      if (cell.failures > 1 && cell.seen_rate() >= analysis_.settling->rate) {
        fault("nowhere, and a cell does", line);
      }
    }
  }

  const Analysis& analysis_;
  std::vector<std::string> lines_;
  const CellSummary* worst_ = nullptr;
  int clear_ = 0;
  int tested_ = 0;
  int clear_trials_ = 0;
  std::string lock_lines_;
  std::vector<std::string> faults_;
};

/// A run in that world, reproducible by `seed`, which also draws its rates: of a fixed number of
/// trials, or one that settles at 10%.
struct SimulatedReport {
  Analysis analysis;
  std::vector<double> rates;  ///< the truth, by index into Analysis::cells

  /// Whether all cells without a failure are below the bound that the headline prints for them; no
  /// value where it prints none.
  std::optional<bool> bound_holds() const {
    const std::regex bound("; (?:all )?below (\\d+(?:\\.\\d)?)%");
    std::smatch found;
    if (!std::regex_search(analysis.answer.text, found, bound)) return std::nullopt;
    for (size_t i = 0; i < rates.size(); ++i) {
      if (analysis.cells[i].failures == 0 && rates[i] > std::stod(found[1]) / 100) return false;
    }
    return true;
  }
};
SimulatedReport simulated_report(HardWorld world, bool settles, uint64_t seed) {
  SimulatedTrials random(seed * 16 + static_cast<uint64_t>(world) * 2 + (settles ? 1 : 0));
  const std::vector<Planted> cells = planted(world, random);
  const int trials = settles ? kFloorTrials : 10 + 10 * static_cast<int>(3 * random.uniform());
  std::vector<Tally> tallies(cells.size());
  for (size_t i = 0; i < cells.size(); ++i) {
    for (int trial = 0; trial < trials; ++trial) run(cells[i], random, tallies[i]);
  }
  if (settles) settle(cells, random, tallies);
  SampleJournal sample;
  if (settles) sample.journal.header.settle_rate = 0.1;
  sample.journal.header.trials = trials;
  SimulatedReport report;
  for (size_t i = 0; i < cells.size(); ++i) {
    sample.plan(cells[i].id);
    sample.ran(tallies[i].crashes, tallies[i].crashes);
    sample.ran(tallies[i].hangs, tallies[i].hangs, SampleJournal::hang());
    sample.ran(tallies[i].passed).came_to(tallies[i].refused, Outcome::refused);
    report.rates.push_back(cells[i].crashes + cells[i].hangs);
  }
  std::map<std::string, int> next;
  for (TrialRecord& trial : sample.journal.trials) trial.trial = next[to_string(trial.cell)]++;
  report.analysis = analyse(sample.journal);
  return report;
}

/// What a reader finds wrong in the first lines of a terminal's report, in words; empty where they
/// say what the counts say. A headline contradicts its counts where it names a cell, a number or a
/// place that they do not have, or calls clear what failed; it hides the worst cell where the one
/// that fails most often is not in it; it is too long where it has more than two lines a build, a
/// line of more than 100 columns, or a sentence of more than 30 words.
std::vector<std::string> faults_of(const Analysis& analysis) {
  return Reader(analysis).faults();
}

TEST(HardWorlds, HaveHeadlinesThatSayWhatTheirCountsSay) {
  for (const auto& [world, name] : kHardWorlds) {
    for (const bool settles : {false, true}) {
      const int many = worlds(series(6, 2));
      int bounds = 0;
      int held = 0;
      for (int seed = 1; seed <= many; ++seed) {
        const SimulatedReport report =
            simulated_report(world, settles, static_cast<uint64_t>(seed));
        EXPECT_THAT(faults_of(report.analysis), IsEmpty())
            << name << (settles ? ", settled" : "") << ", seed " << seed;
        bounds += report.bound_holds().has_value() ? 1 : 0;
        held += report.bound_holds().value_or(false) ? 1 : 0;
      }
      EXPECT_GE(held, bounds * 95 / 100) << name;
      measured(fmt::format("{}{}: {} of {} bounds hold", name, settles ? ", settled" : "", held,
                           bounds));
    }
  }
}

// A reader that finds no fault in anything would pass the test above.
TEST(HardWorlds, HaveAReaderThatFindsFaults) {
  Analysis analysis = simulated_report(HardWorld::both_axes, false, 1).analysis;
  ASSERT_THAT(faults_of(analysis), IsEmpty());
  const AnswerLine first = analysis.answer.lines.front();
  analysis.answer.lines.front().text = "LibTorch: crashes from 4 processes (5 of 30).";
  EXPECT_THAT(faults_of(analysis), Not(IsEmpty()));
  analysis.answer.lines.front() = first;
  analysis.answer.lines.back().text =
      "No failure in all 9 cells (0 of 90 trials), up to 8 threads.";
  EXPECT_THAT(faults_of(analysis), Not(IsEmpty()));
}

}  // namespace
}  // namespace mpsprobe
