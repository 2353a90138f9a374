#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "harness/statistics/fisher.h"
#include "reports/analysis/analysis.h"
#include "reproducers/emit/emission.h"
#include "reproducers/minimise/minimum.h"

namespace mpsprobe {

/// The most bytes of an issue that GitHub takes (characters, of which a byte is never fewer), with
/// some left for what the user adds.
inline constexpr size_t kMostIssueBytes = 60'000;
inline constexpr size_t kMostIssueTitle = 200;

/// What an issue for a public tracker is written from. Everything in it was measured; personal
/// data has been taken out of what the caller puts here, or is taken out of the finished text.
struct IssueFacts {
  /// For the tracker of any software, and not of PyTorch: own code may call anything.
  bool generic = false;
  const Analysis* analysis = nullptr;  ///< of the run; never null, must outlive the call
  std::string signature;               ///< one of analysis->signatures
  Cell cell;  ///< what the reproducer says: the minimal cell, or a failing one
  const Minimum* minimum = nullptr;  ///< where the cell was minimised: its table of conditions
  std::string python;                ///< the program; empty where there is none
  std::string why_no_python;         ///< then: why, as a sentence
  std::vector<EmittedFile> beside;   ///< files that the program takes
  std::vector<std::string> not_expressed;  ///< what the program cannot say of the cell
  std::string steps;    ///< lines for a shell that install what it needs, build it and run it
  std::string proof;    ///< what became of the program when it was tried here; may be empty
  std::string command;  ///< the mpsprobe command that runs the cell
  /// Other failures in the same cells or under the same conditions, with their counts, a line each.
  std::vector<std::string> others;
};

/// One row of the table that the tracker's people ask for.
struct CrashRow {
  std::string version;  ///< of LibTorch; with the build's id where two builds have one version
  int threads = 0;
  int iterations = 0;
  Proportion crashed;   ///< failures with the signature / trials that count
  Interval crash_rate;  ///< see Analysis::sampling
  int otherwise = 0;    ///< failures with another one
  bool proved = true;   ///< a process said which build it was
};

/// "crashed / total by version x threads x iterations": every cell of the run that differs from
/// `cell` in threads and iterations alone, of every arm, by version, threads, iterations. Arms of
/// one build are rows of their own as long as their workers differ: nothing is added up. Pure.
std::vector<CrashRow> crash_table(const Analysis& analysis, const Cell& cell,
                                  const std::string& signature);

/// Those rows in Markdown; `library` heads the versions. Empty where there are none.
std::string runs_table(const IssueFacts& facts, const Cell& cell,
                       const std::vector<CrashRow>& table, std::string_view library);

/// `others` as a list below a line that says what they are; empty where there are none.
std::string others_in_words(const IssueFacts& facts);

/// The files that the program takes, each in a block below its name.
std::string files_beside(const IssueFacts& facts);

/// The signature in the run. Throws std::invalid_argument where the run has no such one.
const SignatureGroup& group_of(const IssueFacts& facts);

/// What the run tells of its machine; empty where it does not.
std::string machine_fact(const IssueFacts& facts, const char* key);

/// A title for the issue, at most kMostIssueTitle bytes, printable, on one line.
std::string issue_title(const IssueFacts& facts);

/// The issue as Markdown, in the form of PyTorch's template for bugs ("Describe the bug",
/// "Versions"), or where it is generic in that of none: what happens, the program to paste, what
/// the process said as it died, the table, what is necessary for it, what is known on each layer,
/// and the versions as measured. At most kMostIssueBytes. No attachment and no link to one;
/// whatever a worker said is in code or escaped, so that it neither ends a block nor mentions
/// anybody. Says that it is simulated in its first line, where it is. Pure. Throws
/// std::invalid_argument where the run has no such signature.
std::string issue_text(const IssueFacts& facts);

/// What was measured, in the form of the template for bugs of MLX's tracker (ml-explore/mlx,
/// .github/ISSUE_TEMPLATE/bug_report.md): the program, the commands, the table of runs, the stack,
/// the versions. The template prohibits text that a machine wrote: its headings for a narrative
/// stay empty, and its first line, which its author vouches for, is left to its author.
/// `program` is C++ or Python as `language` says; empty where there is none. Pure. Throws
/// std::invalid_argument where the run has no such signature.
std::string mlx_issue_text(const IssueFacts& facts, const std::string& program,
                           const std::string& language);

}  // namespace mpsprobe
