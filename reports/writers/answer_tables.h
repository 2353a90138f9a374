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

/// Rows of Markdown as a table; the first is its head.
std::string markdown_table(const std::vector<std::vector<std::string>>& rows);

/// Kinds of cell by build, in columns of text that fit into `width`: those that fail most often, at
/// most kMostKinds of them; ends with an empty line. Empty where there is one row without a
/// failure, which the answer says.
constexpr size_t kMostKinds = 12;
std::string terminal_answer_table(const Analysis& analysis, size_t width);

/// The answer in Markdown: its sentences, what to do now, and the first rows of its table.
std::string markdown_answer(const Analysis& analysis);

/// All rows of that table, where there are more; `heading` stands before its title.
std::string markdown_kinds(const Analysis& analysis, const std::string& heading);

/// The sentence with what stands out in it, the build's name and its worst word, by `stressed`, and
/// all else by `plain`.
std::string with_stress(const AnswerLine& line, std::string (*plain)(std::string_view),
                        std::string (*stressed)(std::string_view));

}  // namespace mpsprobe
