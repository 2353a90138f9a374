#pragma once

#include <cstddef>
#include <string>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

struct TerminalOptions {
  bool colour = false;  ///< the caller knows whether this is a terminal and what NO_COLOR says
  size_t width = 0;     ///< columns of the terminal; 0: no terminal, sentences stay one line
};

/// What a run prints at its end: the answer, what limits it, the boundary table (in 80 columns, or
/// those of the terminal), the failures with the command that reruns each, where the time went.
/// Text from workers can neither move the cursor nor hide anything. Ends with a newline.
std::string report_terminal(const Analysis& analysis, const TerminalOptions& options);

}  // namespace mpsprobe
