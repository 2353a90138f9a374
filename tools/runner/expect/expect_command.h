#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/expectations/judge_expectations.h"

namespace CLI {
class App;
}

namespace mpsprobe {

/// What `mpsprobe expect` was asked for.
struct ExpectOptions {
  std::string action;
  std::vector<std::string> runs;
  std::optional<std::string> from;  ///< of `update`: --from
  std::string file = "expectations.json";
  std::optional<std::string> history;  ///< --db
  std::string fail_on = "new,worse";
  bool json = false;
};

/// Adds the options of `expect` to its subcommand. `options` must outlive the parsing.
void add_expect_options(CLI::App& app, ExpectOptions& options);

/// Judges runs by known failures, or records what a run adds to them. Returns the exit code. Throws
/// InputError, JournalError, HistoryError, ReportError.
int expect_command_line(const ExpectOptions& options);

}  // namespace mpsprobe
