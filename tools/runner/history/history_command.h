#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace mpsprobe {

/// What `mpsprobe history` was asked for.
struct HistoryOptions {
  std::string action;  ///< add, trend
  std::vector<std::string> runs;
  std::string file = "mpsprobe-out/history.ndjson";
  std::string cell;  ///< --cell: a pattern with * and ?
  bool json = false;
};

/// Adds the options of `history` to its subcommand. `options` must outlive the parsing.
void add_history_options(CLI::App& app, HistoryOptions& options);

/// `mpsprobe history`: keeps counts of runs over nights, and says what changed. Returns the exit
/// code: 0; 4 where the history is empty. Throws InputError, HistoryError, JournalError.
int history_command_line(const HistoryOptions& options);

}  // namespace mpsprobe
