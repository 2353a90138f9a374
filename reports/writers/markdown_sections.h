#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// The sections of the Markdown report that have a shape of their own. Each ends with an empty
/// line, and is empty where it has nothing to say.

/// The cells, kinds down and counts across, a table for each block of the matrix.
std::string markdown_verdicts(const Analysis& analysis);
/// The same tables with operations per second of the cells that passed.
std::string markdown_throughput(const Analysis& analysis);
/// And with how much of the time inside calls was computed, of workers with an interpreter.
std::string markdown_inside(const Analysis& analysis);
/// Which operations' failures need the same conditions; nothing where one operation failed.
std::string markdown_groups(const Analysis& analysis);
/// Failures by signature, and of the most frequent one where each thread was, what was printed, how
/// to run that cell alone.
std::string markdown_failures(const Analysis& analysis);
/// The same of each failure.
std::string markdown_failure_details(const Analysis& analysis);
/// Where trials were that were still computing at the time limit.
std::string markdown_still_computing(const Analysis& analysis);

/// What is known of one failed trial beyond its flight recorder: stacks, what threads wait for, the
/// device's answer to a probe, the system's crash report, GPU events. A part of the section above.
std::string markdown_evidence(const FailureExample& example);
/// What each setting, such as a lock, was shown to do to the rate of failures, and at which price.
std::string markdown_rate_claims(const Analysis& analysis);
/// The same cells on two backends or two builds, and what that permits to be said: at most so many
/// rows, those that show a difference first where there are more; `rest` names the file that has
/// the others.
std::string markdown_layers(const Analysis& analysis, size_t most_rows, std::string_view rest);

/// The command that runs one cell alone as this run did.
std::string rerun_command(const Analysis& analysis, size_t arm, const std::string& cell);

}  // namespace mpsprobe
