#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/record/trial_limits.h"
#include "harness/wire/start_process.h"

namespace CLI {
class App;
}  // namespace CLI

namespace mpsprobe {

// The options that several commands take, mostly those which run trials: what they are called, mean
// and may be stands here, once. `usual` says what holds where the option is not given. Values must
// outlive the parsing.

/// `of` says of what.
void add_trials(CLI::App& app, std::optional<int>& trials, const std::string& of,
                const std::string& usual);
/// What holds of each limit that is not given.
struct UsualLimits {
  std::string timeout;
  std::string stall;
  std::string budget = "none";
  std::string memory = "three quarters of the machine's, over the jobs";
};
/// --timeout, --stall, --budget and --memory-limit.
void add_limits(CLI::App& app, AskedLimits& limits, const UsualLimits& usual);
/// `of` says what the seed draws.
void add_seed(CLI::App& app, std::optional<uint64_t>& seed, const std::string& of,
              const std::string& usual);
void add_start_process(CLI::App& app, std::optional<StartProcess>& start, const std::string& usual);
/// `more` follows the help.
void add_environment(CLI::App& app, std::vector<std::string>& variables,
                     const std::string& more = "");

/// --trust-run: what a run that was made elsewhere names is started.
void add_trust_run(CLI::App& app, bool& trust);

/// --format: forms of the report, with commas. `formats` holds what is usual.
void add_format(CLI::App& app, std::string& formats);

}  // namespace mpsprobe
