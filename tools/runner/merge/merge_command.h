#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace mpsprobe {

/// What `mpsprobe merge` was asked for.
struct MergeOptions {
  std::vector<std::string> folders;
  std::string out = "mpsprobe-out/merged";
  std::string format = "markdown,json";
};

/// Adds the options of `merge` to its subcommand. `options` must outlive the parsing.
void add_merge_options(CLI::App& app, MergeOptions& options);

/// `mpsprobe merge`: a journal and its report of all runs below the folders. Returns the exit code;
/// throws InputError, JournalError, MachineError, ReportError.
int merge_command_line(const MergeOptions& options);

}  // namespace mpsprobe
