#pragma once

#include <string>
#include <vector>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// The answer as a table: kinds of cell by build, in words with the counts behind them ("crashes
/// from 2 (7/10)"), at most kMostAnswerRows, what is worst first. Kinds that came out alike in
/// every build share a row, and their counts are added up. Plain text.
constexpr size_t kMostAnswerRows = 12;
AnswerTable find_answer_rows(const Analysis& analysis);

}  // namespace mpsprobe
