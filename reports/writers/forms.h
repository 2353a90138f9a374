#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "reports/analysis/analysis.h"
#include "reports/writers/atomic_file.h"

// The forms of a report, each by a source of its own name.

namespace mpsprobe {

struct TerminalOptions {
  bool colour = false;  ///< the caller knows whether this is a terminal and what NO_COLOR says
  size_t width = 0;     ///< columns of the terminal; 0: no terminal, sentences stay one line
};

/// What a run prints at its end: the answer, what limits it, the boundary table (in 80 columns, or
/// those of the terminal), the failures with the command that reruns each, where the time went.
/// Text from workers can neither move the cursor nor hide anything. Ends with a newline.
std::string report_terminal(const Analysis& analysis, const TerminalOptions& options);

/// The report as GitHub-flavoured Markdown that can be pasted into an issue. Tables first. Text
/// that came from a worker or from a file is shown, never in force. Ends with a newline; the same
/// analysis gives the same bytes.
std::string report_markdown(const Analysis& analysis);

/// What is too long for that: each further failure with its example, throughput, the machine.
std::string details_markdown(const Analysis& analysis);

/// Writes the report as JSON, in the form of json_members.h, version 2: what was
/// run, everything derived from it, and every trial raw, one a line, ASCII as json_document.
void write_report_json(const Journal& journal, const Analysis& analysis, const Sink& sink);

/// The same without the trials, whose list is empty here. Text from workers is not yet valid UTF-8:
/// write it out with `json_document`.
nlohmann::ordered_json report_json(const Journal& journal, const Analysis& analysis);

/// How the first line of such a file begins.
constexpr std::string_view kCsvMark = "device_class,worker,library";

/// The cells as comma-separated values (RFC 4180) for a spreadsheet: a header, then a row for each
/// cell and arm, every axis in a column of its own. Text that a spreadsheet would take for a
/// formula gets an apostrophe in front. Pure.
std::string report_csv(const Analysis& analysis);

/// JUnit XML, for what reads test results: a suite with one case for each cell and arm, since only
/// a suite may have properties in the schema that Jenkins publishes (junit-10.xsd): trials,
/// failures, the rate's interval. The first failed trial is the case's <failure>, with the
/// signature as its type; the others are <rerunFailure>, at most 100 of a cell. A failure that the
/// matrix expects, and a cell without a trial that counts, is <skipped>; an expectation that was
/// not met is a failure. Pure.
std::string report_junit(const Journal& journal, const Analysis& analysis);

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
