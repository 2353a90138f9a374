// A world in which nothing is gone, fixed or needed: on the newer of two builds, with a lock, in
// processes and after a night each rate is 1 to 10% of what it was.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "harness/input/json_text.h"
#include "harness/statistics/nights.h"
#include "harness/statistics/simulated_trials_for_tests.h"
#include "harness/test_series.h"
#include "reports/claims/change_claim.h"
#include "reports/difference/difference_words.h"
#include "reports/expectations/expectation_words.h"
#include "reports/expectations/judge_expectations.h"
#include "reports/html/html.h"
#include "reports/sample_journal_for_tests.h"
#include "reports/writers/forms.h"

namespace mpsprobe {
namespace {

class FallenRates {
 public:
  explicit FallenRates(uint64_t seed) : random_(seed) {
    trials_ = 10 + 10 * static_cast<int>(6 * random_.uniform());
    for (const char* op : {"mlp", "mm", "softmax"}) {
      const double high = 0.3 + 0.65 * random_.uniform();
      const double share = 0.01 + 0.09 * random_.uniform();
      const std::string kind = fmt::format("mps/{}/default/", op);
      for (const int threads : {1, 2, 4, 8}) {
        plan(fmt::format("{}threads={}", kind, threads), threads == 1 ? high * share : high, share);
      }
      plan(kind + "threads=4/lock=forward", high * share, share);
      plan(kind + "threads=1/processes=4", high * share, share);
    }
  }

  std::vector<std::string> printed() {
    const Journal both = run(true, true);
    const Analysis analysis = analyse(both);
    const RunFacts before = run_facts("before", analyse(run(true, false)));
    const RunFacts after = run_facts("after", analyse(run(false, true)));
    const Difference difference = compare_runs(before, after);
    std::vector<std::string> texts{report_terminal(analysis, {}),
                                   report_markdown(analysis),
                                   details_markdown(analysis),
                                   report_github(analysis),
                                   report_annotations(analysis),
                                   report_junit(both, analysis),
                                   report_csv(analysis),
                                   json_document(report_json(both, analysis)),
                                   report_html(analysis, {}),
                                   difference_text(before, after, difference),
                                   difference_json(before, after, difference).dump(1)};
    KnownFailure known;
    known.outcome = Outcome::signal;
    known.seen = {27, 30};
    const std::vector<KnownFailure> entries{known};
    const Findings findings = judge_expectations(entries, after, {});
    texts.push_back(findings_text(entries, after, findings));
    texts.push_back(findings_json(entries, after, findings).dump(1));
    std::vector<Proportion> nights;
    for (int night = 0; night < 40; ++night) {
      nights.push_back(random_.tried(night < 20 ? 0.8 : 0.8 * 0.05, 30));
    }
    for (const ClaimedShift& claimed : claimed_shifts(nights)) {
      texts.push_back(shift_in_words(claimed.shift));
    }
    return texts;
  }

 private:
  struct Planned {
    std::string id;
    double older = 0;
    double newer = 0;
  };

  void plan(const std::string& id, double rate, double share) {
    cells_.push_back({id, rate, rate * share});
  }

  int failures(double rate, int trials) { return random_.tried(rate, trials).failures; }

  Journal run(bool older, bool newer) {
    SampleJournal sample;
    sample.journal.header.trials = trials_;
    if (older && newer) sample.journal.header.workers.push_back({"old", "/opt/old/worker", {}});
    for (const Planned& cell : cells_) {
      sample.plan(cell.id);
      const std::string worker = newer ? "old" : "stock";
      sample.provenance = "build-b";
      if (older) {
        sample.ran(trials_, failures(cell.older, trials_), SampleJournal::segfault(), worker);
      }
      sample.provenance = "build-a";
      if (newer) sample.ran(trials_, failures(cell.newer, trials_));
    }
    return sample.ended().journal;
  }

  SimulatedTrials random_;
  int trials_ = 0;
  std::vector<Planned> cells_;
};

/// Each line of all that is printed, the run of both builds in every format, the comparison of two
/// runs, and what a known failure comes to, that calls something gone, fixed, needed or the like.
std::vector<std::string> absences_claimed(uint64_t seed) {
  const std::regex claims(
      "\\b(gone|fixed(?! number)|mended|cured|needed|necessary|unnecessary|no longer|never "
      "fails|never "
      "failed|does not fail|safe)\\b",
      std::regex::icase);
  std::vector<std::string> claimed;
  for (const std::string& text : FallenRates(seed).printed()) {
    std::istringstream stream(text);
    bool style = false;  // of a page, which has words of its own
    for (std::string line; std::getline(stream, line);) {
      style = line.find("<style") != std::string::npos ||
              (style && line.find("</style") == std::string::npos);
      if (!style && std::regex_search(line, claims)) claimed.push_back(line);
    }
  }
  return claimed;
}

TEST(FallenRates, AreNotCalledGoneOrFixedOrNeededInAnyFormat) {
  const int many = worlds(2);
  for (int seed = 1; seed <= many; ++seed) {
    EXPECT_THAT(absences_claimed(static_cast<uint64_t>(seed)), testing::IsEmpty()) << seed;
  }
}

}  // namespace
}  // namespace mpsprobe
