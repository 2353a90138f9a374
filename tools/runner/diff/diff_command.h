#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace mpsprobe {

/// What `mpsprobe diff` was asked for.
struct DiffOptions {
  std::string before;
  std::string after;
  std::string across;   ///< "machine", "library" or both: unlike there, and meant to be
  std::string fail_on;  ///< "new", "worse", "unexpected", several with commas
  bool json = false;
};

/// Adds the options of `diff` to its subcommand. `options` must outlive the parsing.
void add_diff_options(CLI::App& app, DiffOptions& options);

/// `mpsprobe diff`. Returns the exit code; throws InputError for runs that are unlike where that
/// was not asked for, and JournalError.
int diff_command_line(const DiffOptions& options);

}  // namespace mpsprobe
