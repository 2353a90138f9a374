#pragma once

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace mpsprobe {

/// What `mpsprobe feedback` was asked for, as given.
struct FeedbackOptions {
  std::string report;  ///< a report.json, or the folder of a run
  std::optional<std::string> signature;
  std::optional<std::string> out;
  std::string audience;  ///< --for: "apple", "pytorch" or "mlx"; empty: by the failure's backend
  bool allow_simulated = false;
  bool no_redact = false;
  bool with_output = false;
  bool with_code = false;
  std::vector<std::string> redact;
  bool json = false;
};

/// Adds the options of `feedback` to its subcommand. `options` must outlive the parsing.
void add_feedback_options(CLI::App& app, FeedbackOptions& options);

/// `mpsprobe feedback`: writes a folder and an archive for each signature of a run. Returns the
/// exit code; throws InputError (2), and whatever reading the run or writing the bundle may (3).
int feedback_command_line(const FeedbackOptions& options);

}  // namespace mpsprobe
