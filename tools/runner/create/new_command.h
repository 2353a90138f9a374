#pragma once

#include <string>

namespace CLI {
class App;
}

namespace mpsprobe {

/// What `mpsprobe new` was asked for.
struct NewOptions {
  std::string program;  ///< as it was called, for the commands that are printed
  std::string what;     ///< "worker"
  std::string folder = "my-worker";
};

/// Adds the options of `new` to its subcommand. `options` must outlive the parsing.
void add_new_options(CLI::App& app, NewOptions& options);

/// Writes a template and prints what to do with it. Returns the exit code. Throws InputError where
/// the folder holds something, MachineError where it cannot be written: then nothing of it stays.
int new_command_line(const NewOptions& options);

}  // namespace mpsprobe
