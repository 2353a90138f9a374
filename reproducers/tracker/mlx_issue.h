#pragma once

#include <string>

#include "reproducers/tracker/issue_text.h"

namespace mpsprobe {

/// What was measured, in the form of the template for bugs of MLX's tracker (ml-explore/mlx,
/// .github/ISSUE_TEMPLATE/bug_report.md): the program, the commands, the table of runs, the stack,
/// the versions. The template prohibits text that a machine wrote: its headings for a narrative
/// stay empty, and its first line, which its author vouches for, is left to its author.
/// `program` is C++ or Python as `language` says; empty where there is none. Pure. Throws
/// std::invalid_argument where the run has no such signature.
std::string mlx_issue_text(const IssueFacts& facts, const std::string& program,
                           const std::string& language);

}  // namespace mpsprobe
