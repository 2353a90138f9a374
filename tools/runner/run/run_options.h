#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/campaign/campaign.h"
#include "harness/matrix/expand.h"

namespace CLI {
class App;
}

namespace mpsprobe {

/// What `mpsprobe run` was asked for, as given: what was not given is empty.
struct RunOptions {
  std::optional<std::string> matrix;  ///< --matrix; "default" where it has no value
  std::vector<std::string> cells;
  std::map<std::string, std::string> axes;  ///< axis name, or env.NAME -> text of its option
  std::vector<std::string> filters;
  std::optional<int> trials;
  std::optional<double> settle_rate;
  AskedLimits limits;
  std::optional<int> jobs;
  std::optional<uint64_t> seed;
  std::optional<int> max_failures;
  std::optional<std::string> resume;
  std::optional<std::string> python;        ///< --python: FILE_OR_MODULE::FUNCTION[,FUNCTION]
  std::optional<std::string> pytest;        ///< --pytest: a file, a folder or a node id
  std::vector<std::string> command;         ///< behind `--`: somebody's own command, as it is
  std::vector<std::string> set;             ///< --set NAME=A,B: parameters of that command
  std::string expect_output;                ///< --expect-output: a file, or `same`
  std::vector<std::string> fail_on_output;  ///< --fail-on-output
  std::optional<std::string> failed;        ///< --failed: a run, whose failing cells are run again
  std::optional<std::string> more;          ///< --more: a run, of which more is asked
  std::optional<std::string> out;
  std::optional<std::string> shard;  ///< --shard: "I/N", "auto"
  std::vector<std::string> environment;
  std::vector<std::string> workers;
  std::optional<StartProcess> start_process;  ///< --start-process
  std::optional<std::string> expect_torch;
  std::vector<std::string> probes;         ///< --probe: mangled symbols
  std::vector<std::string> crash_reports;  ///< --crash-reports: folders
  bool keep_cores = false;                 ///< --keep-cores
  std::string known_good = "auto";
  std::string fail_on;                      ///< a list; empty: what is usual
  std::optional<std::string> expectations;  ///< --expectations: a file
  std::string format = "markdown,json";     ///< what the report is written as
  bool trust_run = false;                   ///< --trust-run: start what another's run names
  bool own_cells = false;                   ///< the cells are of a run that was made here
  bool force_env = false;                   ///< also variables that no library has
  bool dry_run = false;
  bool json = false;
  /// Of another command, which says how it goes on, and prints what it came to: what `run` prints
  /// goes to standard error, and nothing that it found makes its exit code.
  bool part = false;
  std::vector<std::string> command_line;  ///< for the report
};

/// Adds the options of `run` to its subcommand. `options` must outlive the parsing.
void add_run_options(CLI::App& app, RunOptions& options);

}  // namespace mpsprobe
