#pragma once

#include <string>

#include "reproducers/minimise/minimum.h"

namespace mpsprobe {

/// One line without a line end: what became of the step, k/n, and the change: "kept       2/2
/// threads 8 -> 3". Printable.
std::string step_line(const Reduction& step);

/// One line of the table of conditions: "necessary  0/6  p 0.012  threads 3 -> 2". Printable.
std::string condition_line(const Condition& condition, const Tally& unchanged);

/// The table of conditions as Markdown, with the unchanged cell first.
std::string condition_table(const Minimum& minimum);

/// What the start cell came to: "5 of 5 failed: above 54% with 95% confidence".
std::string rate_in_words(const Tally& tally);

/// The whole result as plain text for a terminal: the path, the minimum with the command that runs
/// it, how reliable it is, the table of conditions. Printable; begins by saying that it is
/// simulated where it is. Ends with a line end.
std::string minimum_terminal(const Minimum& minimum);

/// The same as Markdown, for maintainers of the software that fails. All that came from workers is
/// escaped. Pure: the same minimum gives the same bytes.
std::string minimum_markdown(const Minimum& minimum);

}  // namespace mpsprobe
