#pragma once

#include <string>

#include "reproducers/bundle/pages/finding.h"

namespace mpsprobe {

/// "3 threads: 10 of 10 failed: above 69% with 95% confidence", with other failures named apart.
std::string count_in_words(const CellCount& count);

/// What went wrong, in words: "signal SIGSEGV", "wrong result".
std::string outcome_in_words(const Judgement& judgement);

/// "linear, no-graph path, 3 threads" of a cell, its other axes where they are not at their
/// default.
std::string cell_in_words(const Cell& cell);

/// Whether API misuse was ruled out, with counts, one sentence a line; says so where it was not.
std::vector<std::string> misuse_in_words(const BundleFinding& finding);

/// What could not be verified, one sentence each; empty where everything was.
std::vector<std::string> unverified(const BundleFinding& finding);

/// The signatures that the bundle stands for as well, with their counts, one a line.
std::vector<std::string> others_in_words(const BundleFinding& finding);

/// Which code of the user's own the cell needs, and that it was not packed; else empty.
std::string needed_code_in_words(const BundleFinding& finding);

/// Whether it was seen here that the program of this kind fails as the cell did.
bool shown_to_fail(const BundleFinding& finding, Kind kind);

/// The command that runs the smallest failing cell again.
std::string rerun_command(const BundleFinding& finding);

}  // namespace mpsprobe
