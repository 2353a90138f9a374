#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/campaign/settling.h"
#include "harness/journal/journal.h"
#include "harness/statistics/anytime.h"
#include "harness/statistics/interval.h"
#include "harness/wire/loaded_library.h"
#include "reports/analysis/boundary.h"
#include "reports/analysis/inside_share.h"
#include "reports/claims/rate_claim.h"

namespace mpsprobe {

/// One worker with one build of the library. A worker whose trials ran on several builds is several
/// arms: results of different builds are never added up.
struct Arm : LibraryUnderTest {
  std::string label;   ///< "stock"; "stock, build 2" where a worker had several
  std::string worker;  ///< name given with --worker
  std::string worker_path;
  bool proved = false;  ///< a process that ran trials said so; otherwise only `describe` did
  std::vector<std::string> devices;  ///< as processes named them, each once
  std::set<uint64_t> stacks;         ///< bytes of a thread's stack where a cell does not say
};

/// How far the threads of a cell were really inside an operation at the same time.
enum class Overlap : uint8_t {
  not_applicable,  ///< one thread
  seen,
  prevented,  ///< by what the cell asks for: a lock, or a sequential start
  none,       ///< possible, and never seen: a pass proves nothing
};
template <>
inline constexpr auto kWordsOf<Overlap> = std::to_array<std::string_view>({"not_applicable", "seen",
                                                                           "prevented", "none"});

enum class Expected : uint8_t { nothing, met, unmet, untested };
template <>
inline constexpr auto kWordsOf<Expected> = std::to_array<std::string_view>({"nothing", "met",
                                                                            "unmet", "untested"});

struct OutcomeCount {
  Outcome outcome = Outcome::not_run;
  std::string detail;
  int trials = 0;
  std::optional<Phase> phase;  ///< in which all of these ended; nothing where they differ
};

/// Of a trial that passed.
struct TrialSpeed {
  int trial = 0;
  double operations_per_second = 0;
};

/// Trials of a cell that failed with one title.
struct TitleCount {
  size_t signature = 0;  ///< index into Analysis::signatures
  int failures = 0;
};

/// What the trials of one cell came to, for one arm.
struct CellSummary {
  size_t arm = 0;  ///< index into Analysis::arms
  Cell cell;
  std::string id;                    ///< to_string(cell)
  std::string block;                 ///< that it is run for
  std::vector<std::string> also_in;  ///< later blocks that have it as well
  std::optional<Expectation> expectation;
  Expected expected = Expected::nothing;
  int planned = 0;
  int counted = 0;  ///< passes and failures
  int failures = 0;
  int refused = 0;                           ///< by the library: neither a pass nor a failure
  std::map<std::string, int> after_refusal;  ///< titles of what refused trials came to later
  int missing = 0;                           ///< planned, and not in the journal
  std::vector<OutcomeCount> outcomes;        ///< in the order of the outcomes, then of the details
  std::optional<Verdict> verdict;            ///< nothing where no trial counts and none was refused
  Interval rate;  ///< 95% interval of the failure rate, see Analysis::sampling
  Overlap overlap = Overlap::not_applicable;
  uint32_t most_inside = 0;  ///< the most threads that were inside a launch at once, in any trial
  uint64_t launches = 0;
  uint64_t overlapped = 0;           ///< launches that found another thread inside
  InsideShare inside;                ///< of workers with an interpreter; else not known
  std::optional<Spread> throughput;  ///< operations a second, over passing trials
  std::vector<TrialSpeed> speeds;    ///< what that sums up, in the order of the journal
  std::vector<std::string> observed_paths;
  std::string path_unseen;           ///< why a probe of the path did not see it; empty otherwise
  std::vector<std::string> devices;  ///< as its processes named them, sorted, each once
  uint64_t checked = 0;              ///< results compared with the reference, over passing trials
  uint64_t unchecked = 0;
  bool simulated = false;
  bool paravirtual = false;        ///< on the GPU of a virtual Mac: no result of a real chip
  std::vector<TitleCount> titles;  ///< the most frequent of the run first
  int recorded = 0;                ///< trials in the journal, whatever they came to
  double seconds = 0;              ///< that these took, added up

  /// Of failures: none where nothing but refusals came.
  bool has_rate() const { return counted > 0; }
  /// The share of its trials that failed; 0 where none counts.
  double seen_rate() const { return counted == 0 ? 0 : static_cast<double>(failures) / counted; }
};

/// Whether a process saw the operation take another path than the cell asks for.
bool took_another_path(const CellSummary& cell);

/// One trial that failed, as an example of its signature.
struct FailureExample {
  size_t arm = 0;
  Cell cell;
  int trial = 0;
  uint64_t seed = 0;  ///< as in TrialRecord
  Judgement judgement;
  int process = 0;
  EndedBy ended_by = EndedBy::nobody;
  RecorderReading recorder;
  StackEvidence stacks;
  /// In Python's code, of the thread that died, as faulthandler printed it; innermost first.
  std::vector<StackFrame> python_stack;
  std::optional<CrashReport> crash_report;
  std::vector<GpuEvent> gpu_events;
  std::optional<FailureEvent> event;  ///< what the process itself said of the failure
  std::vector<std::string> remarks;   ///< what its evidence says, in sentences
  /// Printable end of its stderr, before faulthandler's stacks; of stdout where that is empty; or
  /// the race.
  std::string excerpt;
};

/// All failures with one title.
struct SignatureGroup {
  struct Where {
    size_t summary = 0;  ///< index into Analysis::cells
    size_t arm = 0;
    std::string cell;
    int failures = 0;
    int counted = 0;
  };
  /// Something that trials of this signature told of beside it.
  struct Beside {
    OtherFinding finding;
    int trials = 0;
  };
  std::string title;
  bool known = true;
  Basis basis = Basis::none;  ///< the strongest that a trial of it has
  int failures = 0;
  std::vector<Where> cells;  ///< in the order of the summaries
  std::vector<Beside> also;  ///< most often first, at most 256
  size_t also_left_out = 0;  ///< how many there are more
  /// Signatures that are perhaps the same bug, as indices into Analysis::signatures: this one is of
  /// crashes and they are of hangs, or the other way round, in trials of the same cell and arm.
  std::vector<size_t> related;  ///< the most frequent ones, at most 256
  size_t related_left_out = 0;  ///< how many there are more
  std::map<std::string, int> phases;
  std::vector<std::pair<std::string, int>> before;  ///< cells that ran before, most often first
  /// Of the smallest cell that fails at least half as often as the one that fails most, the first:
  /// where the boundary is, and not the largest load that happened to come first.
  FailureExample first;

  /// It rests on nothing but the place where the process was.
  bool thin() const { return basis == Basis::place; }
};

/// What two results of the same cell permit to be said. Nothing else is claimed about the layer
/// that is to blame, or about a fix.
enum class Conclusion : uint8_t {
  also_below,      ///< both layers failed
  only_above,      ///< the upper layer failed more often than the lower one, which never did
  only_below,      ///< the lower layer failed, and the upper one, which never did, less often
  less_often,      ///< the second of two builds failed less often than the first, or not at all
  more_often,      ///< the first of two builds failed less often than the second, or not at all
  no_difference,   ///< none is shown between two builds
  too_few_trials,  ///< inconclusive: one side failed, and chance may have spared the other
  no_overlap,      ///< inconclusive: the side without a failure never had two threads meet
  other_path,      ///< inconclusive: a side took another path than the cell asks for
  unchecked,       ///< inconclusive: results were wrong, and the other side compared none
  other_device,    ///< inconclusive: the sides ran on different devices; not tested
  no_failure,      ///< inconclusive: neither failed
  same_build,      ///< inconclusive: both workers loaded the same library
  unproved,        ///< inconclusive: not both sides proved which library ran
};
/// The last is the word of all that follow as well.
template <>
inline constexpr auto kWordsOf<Conclusion> =
    std::to_array<std::string_view>({"also_below", "only_above", "only_below", "less_often",
                                     "more_often", "no_difference", "inconclusive"});

/// One cell on two layers (all axes but the backend equal) or on two builds of the library.
struct Comparison {
  bool layers = true;          ///< of two backends; otherwise of two workers
  size_t first = 0;            ///< the upper layer, or the first build: index into Analysis::cells
  size_t second = 0;           ///< the lower layer, or the other build
  double p = 1;                ///< Fisher's exact test, two-sided
  double corrected_p = 1;      ///< by Holm, for all that were tested
  bool tested = false;         ///< something failed, and both ran on one device
  bool same_signature = true;  ///< where both failed: at least one title is common to both
  std::optional<int> trials_needed;  ///< a side, for `too_few_trials` at the rate seen
  bool simulated = false;
  Conclusion conclusion = Conclusion::no_failure;
};

/// Cells that tell nothing for one reason: of the plan, or a worker's, which was asked and said
/// that it does not do what they ask (`tried`).
struct LeftOutGroup {
  std::string reason;
  std::vector<std::string> cells;
  size_t others = 0;  ///< how many more there are that are not named
  bool tried = false;
};

/// Trials that failed, in one attempt or more, as victims of a GPU error or restart which the
/// system laid to another process.
struct Bystanders {
  int trials = 0;  ///< each once, however many attempts it took
  int rerun = 0;   ///< of these, how many ran again, alone
  int alone = 0;   ///< of these, how many were victims alone as well: failures without a culprit
};

/// Something that limits what the report is worth. `code` is stable, for programs.
struct Warning {
  std::string code;
  std::string text;
};

/// The answer as a table: which kinds of cell came out how, by build.
struct AnswerTable {
  struct Row {
    std::string cells;                ///< which: "chain, stream=per-thread; mlp"
    std::string axis;                 ///< what its numbers count: "threads" or "processes"
    std::vector<std::string> fields;  ///< "7 crashes in 10 at 2", by index into `builds`
  };
  std::vector<std::string> builds;  ///< labels of the arms
  std::vector<Row> rows;
};

/// A sentence of the answer.
struct AnswerLine {
  std::string text;
  std::string name;                ///< with which it begins, of a build; often empty
  std::string worst;               ///< its worst word, somewhere in it; often empty
  std::optional<size_t> arm = {};  ///< whose headline it is a line of
};

/// What a run came to, in a few sentences: what every report says first.
struct Answer {
  std::string code;  ///< "no_evidence", "as_expected", "unexpected", "fails", "differs",
                     ///< "no_failure", "refused"; stable, for programs
  std::string text;  ///< without the class of the devices, see class_prefix
  std::vector<std::string> sentences;  ///< the same: at most two a build, then one a question
  std::vector<AnswerLine> lines;       ///< the same, with what stands out
  AnswerTable table;
  std::vector<std::string> next;  ///< what to do now (next_steps.h)
};

/// What a campaign that settles questions (--settle) came to.
struct SettledQuestions {
  /// Cells with more threads or processes than one that fails, and that fail less often: failures
  /// that begin do not go on, and what settled places rest on does not hold.
  struct Broken {
    size_t failing = 0;         ///< index into Analysis::cells
    std::vector<size_t> rarer;  ///< ascending by count
  };
  struct Open {
    size_t summary = 0;  ///< the cell to be tried next: index into Analysis::cells
    std::string axis;
    int further = 0;  ///< how many trials of it are missing at the least
  };
  double rate = 0;         ///< the failure rate that is to be told
  double wrong = 0;        ///< the chance with which each answer is wrong, at most
  size_t settled = 0;      ///< boundaries, and cells that are on none
  size_t given_up = 0;     ///< of these, those whose rates lie between rate / 10 and rate
  std::vector<Open> open;  ///< of these, those that more trials would settle
  bool somewhere = false;  ///< a place was found, at or above the rate
  std::vector<Broken> broken;
};

/// Everything derived from a journal; nothing in it is stored there.
struct Analysis {
  CampaignHeader header;  ///< without `cells`: they are in `cells` below
  std::vector<CampaignEnd> ends;
  bool simulated = false;    ///< at least one cell ran on a simulated device
  std::string own_mps_code;  ///< see own_mps_code(); empty unless every simulated cell ran on it
  bool paravirtual = false;  ///< at least one cell ran on the GPU of a virtual Mac
  bool complete = false;     ///< every planned trial is in the journal
  /// How the number of trials came about: what intervals and p-values have to be right for.
  Sampling sampling = Sampling::fixed;
  std::optional<SettledQuestions> settling;
  int planned = 0;
  int recorded = 0;
  int counted = 0;
  int failures = 0;
  int refused = 0;  ///< trials
  /// Planned trials that came to no answer: missing, not run, or prevented by the harness or the
  /// machine, where the matrix does not expect just that. `unsupported` and `refused` are answers.
  int undone = 0;
  std::vector<Arm> arms;
  std::vector<uint32_t> arm_of_trial;  ///< index into `arms`, by index into the journal's trials
  std::vector<std::string> blocks;     ///< titles, in the order of the plan
  std::vector<CellSummary> cells;      ///< in the order of the plan, arms of one cell together
  /// Cells of a plan of more than 10,000 that no trial was run of: counted, and not in `cells`.
  size_t cells_not_listed = 0;
  std::vector<Boundary> boundaries;             ///< Boundary::worker is the arm's label
  std::vector<SignatureGroup> signatures;       ///< most frequent first
  std::vector<SignatureGroup> still_computing;  ///< trials of the outcome `timeout`, likewise
  std::vector<Comparison> comparisons;          ///< in the order of the cells
  Bystanders bystanders;
  std::vector<LeftOutGroup> left_out;
  std::vector<Warning> warnings;
  std::vector<RateClaim> rate_claims;  ///< see compare_rates.h
  /// All of these about one remedy as one claim, where there are several: what a few trials of each
  /// kind of cell do not show, those of all may. Each cell counts once.
  std::vector<RateClaim> claims_together;
  std::vector<RateClaim> priced;  ///< settings where nothing failed, and their price
  double seconds = 0;             ///< during which at least one trial ran, in all pieces of the run
  std::array<uint64_t, 3> starts{};  ///< how processes were started: how many, by StartProcess
  Answer answer;

  /// At least one trial counts, or was refused. A run without is never green.
  bool has_evidence() const { return counted > 0 || refused > 0; }
};

/// Derives everything. Pure and deterministic: the same journal gives the same analysis.
Analysis analyse(const Journal& journal);

/// A journal whose trials stay in its file, and what it comes to.
struct AnalysedJournal {
  Journal journal;  ///< its trials: for_each_trial
  Analysis analysis;
};

/// Reads a journal and derives the same, in room that hardly grows with the trials. Throws
/// JournalError.
AnalysedJournal analyse_file(const std::filesystem::path& file);

}  // namespace mpsprobe
