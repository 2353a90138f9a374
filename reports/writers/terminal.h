#pragma once

#include <string>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

struct TerminalOptions {
  bool colour = false;  ///< the caller knows whether this is a terminal and what NO_COLOR says
};

/// What a run prints at its end: what limits it, the boundary table, the failures with the command
/// that reruns each. Text from workers can neither move the cursor nor hide anything. Ends with a
/// newline.
std::string report_terminal(const Analysis& analysis, const TerminalOptions& options);

}  // namespace mpsprobe
