#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// Columns of printable text, each wrapped within its width; where all are wider than `width`
/// columns the widest gives. A row of one field is a remark on the row before it.
std::string text_table(const std::vector<std::vector<std::string>>& rows, size_t width);

/// The table of the answer, in columns of text that fit into `width`; ends with an empty line.
/// Empty where there is one row and the answer says it.
std::string terminal_answer_table(const Analysis& analysis, size_t width);

/// The same in Markdown.
std::string markdown_answer_table(const Analysis& analysis);

}  // namespace mpsprobe
