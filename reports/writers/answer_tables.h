#pragma once

#include <cstddef>
#include <string>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// The table of the answer, in columns of text that fit into `width`; ends with an empty line.
/// Empty where there is one row and the answer says it.
std::string terminal_answer_table(const Analysis& analysis, size_t width);

/// The same in Markdown.
std::string markdown_answer_table(const Analysis& analysis);

}  // namespace mpsprobe
