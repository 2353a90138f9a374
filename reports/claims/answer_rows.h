#pragma once

#include <string>
#include <vector>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// The answer as a table: kinds of cell by build, with the counts of single cells ("10 crashes in
/// 10 at 4; 7 crashes in 10 at 2; none at 1 (0/10 < 31%)"), what fails most often first. Of a
/// campaign that settles each begins with the place that it came to. Kinds that came out alike in
/// every cell and build share a row, which says so ("each"). Plain text.
AnswerTable find_answer_rows(const Analysis& analysis);

}  // namespace mpsprobe
