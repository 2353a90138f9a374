#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// Columns of printable text, each wrapped within its width; where all are wider than `width`
/// columns the widest gives. A row of one field is a remark on the row before it.
std::string text_table(const std::vector<std::vector<std::string>>& rows, size_t width);

/// The table of the answer, in columns of text that fit into `width`; ends with an empty line.
/// Empty where there is one row and the answer says it.
std::string terminal_answer_table(const Analysis& analysis, size_t width);

/// The answer in Markdown: its sentences, what to do now, and its table.
std::string markdown_answer(const Analysis& analysis);

/// The sentence with what stands out in it, the build's name and its worst word, by `stressed`, and
/// all else by `plain`.
std::string with_stress(const AnswerLine& line, std::string (*plain)(std::string_view),
                        std::string (*stressed)(std::string_view));

}  // namespace mpsprobe
