#include "harness/campaign/rerun.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "harness/campaign/campaign.h"
#include "harness/campaign/usual_jobs.h"
#include "harness/wire/cell.h"
#include "harness/wire/own_command.h"
#include "harness/wire/variables.h"

namespace mpsprobe {
namespace {

// What `run` takes where neither an option nor a matrix says otherwise.
constexpr TrialLimits kUsual;
constexpr const char* kForceEnv = "--force-env";

/// What a command line gave to an option, each time that it did.
std::vector<std::string> given(const std::vector<std::string>& command_line,
                               const std::string& option) {
  std::vector<std::string> values;
  for (size_t i = 0; i < command_line.size(); ++i) {
    if (command_line[i] == option && i + 1 < command_line.size()) {
      values.push_back(command_line[i + 1]);
    } else if (command_line[i].starts_with(option + "=")) {
      values.push_back(command_line[i].substr(option.size() + 1));
    }
  }
  return values;
}

uint64_t machine_number(const CampaignHeader& header, const char* fact) {
  if (!header.machine.is_object() || !header.machine.contains(fact)) return 0;
  const nlohmann::json& value = header.machine.at(fact);
  return value.is_number_unsigned() ? value.get<uint64_t>() : 0;
}

/// Of a run of that cell by that worker alone, on the same machine.
int usual_jobs_of(const CampaignHeader& header, std::string_view worker_name,
                  const std::string& cell) {
  std::vector<WorkerInfo> workers = header.workers;
  std::erase_if(workers, [&](const WorkerInfo& each) { return each.name != worker_name; });
  uint64_t cores = machine_number(header, "cores");
  if (cores == 0) cores = static_cast<uint64_t>(header.jobs);
  return usual_jobs({parse_cell(cell).backend}, workers, cores);
}

bool is_command(const std::string& variable) {
  return variable.starts_with(std::string(kCommandVariable) + "=");
}

/// Behind the options, and is to be run where it ran.
void add_command(std::vector<std::string>& words, const OwnCommand& command) {
  if (!command.expect_output.empty())
    words.insert(words.end(), {"--expect-output", command.expect_output});
  for (const std::string& text : command.fail_on_output)
    words.insert(words.end(), {"--fail-on-output", text});
  words.emplace_back("--");
  words.insert(words.end(), command.words.begin(), command.words.end());
}

}  // namespace

bool names_workers(const std::vector<std::string>& command_line) {
  return !given(command_line, "--worker").empty();
}

std::optional<uint64_t> own_memory_limit_mib(const CampaignHeader& header) {
  const uint64_t memory = machine_number(header, "memory_bytes");
  const uint64_t share = memory / 4 * 3 / static_cast<uint64_t>(std::max(1, header.jobs));
  if (header.memory_limit_bytes == 0 || memory == 0 || header.memory_limit_bytes == share) {
    return std::nullopt;
  }
  constexpr uint64_t kMiB = 1 << 20;
  return (header.memory_limit_bytes + kMiB - 1) / kMiB;
}

std::vector<std::string> for_others(const std::vector<std::string>& command_line) {
  std::vector<std::string> words{"mpsprobe"};
  for (const char* option : {"--start-process", "--known-good"}) {
    for (const std::string& value : given(command_line, option)) {
      words.insert(words.end(), {option, value});
    }
  }
  if (names_workers(command_line)) words.insert(words.end(), {"--worker", "its"});
  const auto force = std::find(command_line.begin(), command_line.end(), kForceEnv);
  if (force != command_line.end()) words.push_back(*force);
  return words;
}

std::string program_of(const CampaignHeader& header) {
  return header.command_line.empty() ? "mpsprobe" : header.command_line.front();
}

std::vector<std::string> rerun_arguments(const CampaignHeader& header, std::string_view worker_name,
                                         std::string_view worker_path, const std::string& cell) {
  Cell named = parse_cell(cell);
  const Variables all = parse_variables(named.env);
  Variables documented = all;
  std::erase_if(documented, [](const auto& each) { return !is_documented_switch(each.first); });
  named.env = to_axis_value(documented);
  std::vector<std::string> words{program_of(header), "run", "--cell",
                                 documented == all ? cell : to_string(named)};
  const auto add = [&words](const std::string& option, const std::string& value) {
    words.insert(words.end(), {option, value});
  };
  // Whoever pastes them gives his word for them; in a cell's text they may be somebody else's.
  for (const auto& [name, value] : all) {
    if (!documented.contains(name)) add("--env." + name, value);
  }
  add("--trials", std::to_string(header.trials));
  add("--seed", std::to_string(header.seed));
  if (header.timeout_seconds != kUsual.timeout_seconds) {
    add("--timeout", fmt::format("{}", header.timeout_seconds));
  }
  if (header.stall_seconds != kUsual.stall_seconds)
    add("--stall", fmt::format("{}", header.stall_seconds));
  const int jobs = usual_jobs_of(header, worker_name, cell);
  if (header.jobs != jobs) add("--jobs", std::to_string(header.jobs));
  if (const auto limit = own_memory_limit_mib(header)) {
    add("--memory-limit", std::to_string(*limit));
  }
  const std::optional<OwnCommand> command = own_command_in(header.environment);
  // Where the run named its workers, the usual one may be another.
  const bool usual = command.has_value()
                         ? worker_name == "command"
                         : worker_name == "stock" && !names_workers(header.command_line);
  if (!usual) add("--worker", fmt::format("{}={}", worker_name, worker_path));
  for (const std::string& variable : header.environment) {
    if (!command.has_value() || !is_command(variable)) add("--env", variable);
  }
  for (const char* option :
       {"--start-process", "--expect-torch", "--crash-reports", "--known-good"}) {
    for (const std::string& value : given(header.command_line, option)) add(option, value);
  }
  const auto& line = header.command_line;
  if (std::find(line.begin(), line.end(), kForceEnv) != line.end()) words.emplace_back(kForceEnv);
  if (command.has_value()) add_command(words, *command);
  return words;
}

}  // namespace mpsprobe
