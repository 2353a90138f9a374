#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// Rows of the answer's table that the terminal and the beginning of a Markdown report show.
constexpr size_t kMostKinds = 12;

/// Rows of Markdown as a table; the first is its head.
std::string markdown_table(const std::vector<std::vector<std::string>>& rows);

/// The answer in Markdown: its sentences, what to do now, and the first rows of its table.
std::string markdown_answer(const Analysis& analysis);

/// The sentence with what stands out in it, the build's name and its worst word, by `stressed`, and
/// all else by `plain`.
std::string with_stress(const AnswerLine& line, std::string (*plain)(std::string_view),
                        std::string (*stressed)(std::string_view));

}  // namespace mpsprobe
