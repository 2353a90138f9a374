#pragma once

#include <string>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// The summary of a job on GitHub Actions: Markdown below 1 MiB, the most that
/// $GITHUB_STEP_SUMMARY takes, cut between two rows with the number of those that are missing and,
/// where GITHUB_SERVER_URL, GITHUB_REPOSITORY and GITHUB_RUN_ID are set, a link to the run's
/// artefacts. Cells that failed or were not met as expected come first.
std::string report_github(const Analysis& analysis);

/// At most ten workflow commands, one a line, to be printed by a step: an incomplete run and cells
/// that are not as the matrix expects are errors, other failures notices, by weight. Text of a
/// worker cannot begin a command, nor end one. Pure.
std::string report_annotations(const Analysis& analysis);

}  // namespace mpsprobe
