#pragma once

#include <string>

namespace CLI {
class App;
}

namespace mpsprobe {

/// What `mpsprobe read` was asked for.
struct ReadOptions {
  std::string input;  ///< a file, or "-"
  bool json = false;
};

/// Adds the options of `read` to its subcommand. `options` must outlive the parsing.
void add_read_options(CLI::App& app, ReadOptions& options);

/// `mpsprobe read`: what failed, of a log, a crash report, a journal or a pasted issue. Returns the
/// exit code: 0; 4 where nothing tells of a failure. Throws InputError, JournalError.
int read_command_line(const ReadOptions& options);

}  // namespace mpsprobe
