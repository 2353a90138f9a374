#pragma once

#include <cstdio>
#include <filesystem>
#include <functional>

#include "reports/analysis/analysis.h"
#include "reports/writers/write.h"

namespace mpsprobe {

/// Writes the report in these formats anew from the journal in `folder`, prints the boundaries and
/// where the files are to `stream`, and returns what they are derived from. `beside` makes what
/// they show it beside. Throws ReportError, JournalError, and what `beside` throws.
using MakeBeside = std::function<Beside(const Journal&, const Analysis&)>;
Analysis finish_report(const std::filesystem::path& folder, const Formats& formats,
                       const MakeBeside& beside = {}, std::FILE* stream = stdout);

/// Prints what finish_report prints, and writes nothing. Returns the exit code.
int show_run(const std::filesystem::path& folder);

}  // namespace mpsprobe
