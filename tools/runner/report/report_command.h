#pragma once

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace mpsprobe {

/// What `mpsprobe report` was asked for.
struct ReportOptions {
  std::string run;
  std::string format = "markdown,json";
  std::optional<std::string> baseline;      ///< --baseline: another run
  std::optional<std::string> expectations;  ///< --expectations: a file
  std::optional<std::string> history;       ///< --db
};

/// Adds the options of `report` to its subcommand. `options` must outlive the parsing.
void add_report_options(CLI::App& app, ReportOptions& options);

/// Writes the report of a run again. Returns the exit code. Throws InputError, JournalError,
/// HistoryError, ReportError.
int report_command_line(const ReportOptions& options);

}  // namespace mpsprobe
