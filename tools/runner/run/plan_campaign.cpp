#include "tools/runner/run/plan_campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "harness/campaign/boundary_search.h"
#include "harness/campaign/rerun.h"
#include "harness/campaign/shard.h"
#include "harness/campaign/usual_jobs.h"
#include "harness/crash_report/find_report.h"
#include "harness/executor/executor.h"
#include "harness/input/input_error.h"
#include "harness/input/near_name.h"
#include "harness/platform/machine.h"
#include "harness/platform/memory.h"
#include "harness/provenance/own_build.h"
#include "harness/provenance/probes_variable.h"
#include "harness/wire/axis.h"
#include "harness/wire/variables.h"
#include "reports/words/safe_text.h"
#include "tools/runner/data_folder.h"
#include "tools/runner/run/run_origin.h"
#include "tools/runner/run/variables_check.h"
#include "tools/runner/workers/workers.h"

namespace mpsprobe {
namespace {

constexpr double kMostTrials = 1e8;

AxisValues axis_values(const RunOptions& options) {
  AxisValues values;
  for (const auto& [name, text] : options.axes) {
    const std::string_view variable = variable_of(name);
    try {
      if (variable.empty()) {
        values[name] = parse_axis_values(*find_axis(name), text);
        continue;
      }
      const std::vector<std::string> more = parse_variable_values(variable, text);
      const auto [at, fresh] = values.try_emplace("env", more);
      if (!fresh) at->second = combined(at->second, more);
    } catch (const InputError& error) {
      throw InputError("--" + name, error.problem(), error.remedy());
    }
  }
  return values;
}

int chosen_jobs(const RunOptions& options, const std::set<Backend>& backends,
                const std::vector<WorkerInfo>& workers) {
  const auto alone = std::find_if(backends.begin(), backends.end(),
                                  [](Backend backend) { return info_of(backend).alone; });
  if (alone != backends.end() && options.jobs.value_or(1) != 1) {
    throw InputError("--jobs", "trials that share one GPU disturb each other",
                     fmt::format("Leave it out for the backend {}", name_of(*alone)));
  }
  return options.jobs.value_or(usual_jobs(backends, workers, std::thread::hardware_concurrency()));
}

std::set<std::string> operations_named(const Matrix& matrix, const AxisValues& fixed) {
  std::set<std::string> names;
  for (const std::string& cell : matrix.include) names.insert(parse_cell(cell).op);
  for (const Block& block : matrix.blocks) {
    const AxisValues& axes = fixed.contains("op") ? fixed : block.axes;
    if (const auto at = axes.find("op"); at != axes.end())
      names.insert(at->second.begin(), at->second.end());
  }
  return names;
}

/// Where LibTorch is not there, what does without it: self-tests, and what the simulated device has
/// of its own.
std::vector<WorkerInfo> workers_for(const RunOptions& options, const Matrix& matrix,
                                    const std::vector<std::string>& environment) {
  const double seconds = options.limits.timeout_seconds.value_or(kDescribeSeconds);
  std::set<Backend> wanted = named_backends(matrix, options);
  const std::set<std::string> names = operations_named(matrix, axis_values(options));
  const bool selftests = std::ranges::all_of(
      names, [](const std::string& name) { return name.starts_with("selftest."); });
  std::vector<std::string> named = options.workers;
  if (const auto own = selftest_worker(); own && selftests && named.empty()) {
    named.push_back(own->name + "=" + own->path);
  }
  std::vector<WorkerInfo> workers = find_workers(named, environment, wanted, seconds);
  if (!named.empty() || wanted != std::set<Backend>{Backend::sim}) return workers;
  const Operations there = operations_of(workers);
  if (std::ranges::all_of(names, [&](const std::string& name) { return there.contains(name); }))
    return workers;
  wanted.insert(Backend::cpu);  // which LibTorch's worker has: it has the operation, or nobody
  return find_workers(named, environment, wanted, seconds);
}

/// Workers that were not asked for by name, and that no cell is for, are none of the run's.
void keep_useful(std::vector<WorkerInfo>& workers, const std::set<Backend>& backends) {
  if (backends.empty()) return;
  std::erase_if(workers, [&backends](const WorkerInfo& worker) {
    return std::none_of(backends.begin(), backends.end(),
                        [&worker](Backend backend) { return names_backend(worker, backend); });
  });
}

// Report 000's question, which is LibTorch's; MLX has questions of its own.
std::string default_matrix(const RunOptions& options) {
  const std::set<Backend> named = named_backends(Matrix{}, options);
  std::optional<Backend> backend;
  if (named.empty()) {
    backend = best_backend(find_workers(options.workers, options.environment));
  } else if (named.size() == 1) {
    backend = *named.begin();
  }
  return backend == Backend::mlx ? "mlx" : "default";
}

}  // namespace

std::set<Backend> named_backends(const Matrix& matrix, const RunOptions& options) {
  std::vector<std::string> names;
  bool open = false;  // a block leaves the backend to what there is
  const auto add = [&names](const AxisValues& values) {
    const auto at = values.find("backend");
    if (at != values.end()) names.insert(names.end(), at->second.begin(), at->second.end());
  };
  const AxisValues fixed = axis_values(options);
  add(fixed);
  if (!fixed.contains("backend")) {
    for (const Block& block : matrix.blocks) {
      add(block.axes);
      open = open || !block.axes.contains("backend");
    }
  }
  std::set<Backend> backends;
  for (const std::string& cell : matrix.include) backends.insert(parse_cell(cell).backend);
  for (const std::string& name : names) {
    Cell cell;
    set_axis(cell, *find_axis("backend"), name);
    backends.insert(cell.backend);
  }
  if (open && backends == std::set<Backend>{Backend::mlx}) return {};
  if (open && !backends.empty()) backends.insert(Backend::mlx);
  return backends;
}

std::vector<std::string> asked_environment(const RunOptions& options) {
  std::vector<std::string> environment = options.environment;
  for (const std::string& entry : environment) {
    if (entry.find('=') == std::string::npos || entry.front() == '=') {
      throw InputError("--env", "not of the form K=V", "Write for example --env OMP_NUM_THREADS=1");
    }
  }
  std::string list;
  for (const std::string& symbol : options.probes) {
    const bool plausible =
        !symbol.empty() && symbol.size() < 4096 && symbol.find("::") == std::string::npos &&
        std::all_of(symbol.begin(), symbol.end(), [](unsigned char c) {
          return std::isalnum(c) != 0 || c == '_' || c == '$' || c == '.' || c == '@';
        });
    if (!plausible) {
      throw InputError("--probe", "\"" + printable(symbol) + "\" is no mangled name",
                       "Write the symbol as nm shows it: _ZN2at3mps17getStreamFromPoolEv and not "
                       "at::mps::getStreamFromPool()");
    }
    list += (list.empty() ? "" : " ") + symbol;
  }
  if (!list.empty()) environment.push_back(std::string(kProbesVariable) + "=" + list);
  return environment;
}

Matrix chosen_matrix(const RunOptions& options) {
  if (options.matrix.has_value()) {
    if (!options.cells.empty()) {
      throw InputError("--cell", "does not go together with --matrix",
                       "Use --filter to run some cells of a matrix");
    }
    return find_matrix(options.matrix->empty() ? default_matrix(options) : *options.matrix);
  }
  Matrix matrix;
  if (!options.cells.empty()) {
    for (const auto& [name, text] : options.axes) {
      if (!variable_of(name).empty()) continue;
      throw InputError("--" + name, "does not go together with --cell",
                       "A cell's text says it all: write backend/op/path/threads=N/axis=value");
    }
    AxisValues values = axis_values(options);
    const auto& variables = values.try_emplace("env", 1, "inherited").first->second;
    matrix.name = "cells";
    for (const std::string& text : options.cells) {
      try {
        Cell cell = parse_cell(text);
        for (const std::string& env : combined({cell.env}, variables)) {
          cell.env = env;
          matrix.include.push_back(to_string(cell));
        }
      } catch (const InputError& error) {
        if (error.place() != "cell") throw error.within("--cell");  // an axis of it
        throw InputError("--cell", error.problem(), error.remedy());
      }
    }
    return matrix;
  }
  if (options.axes.contains("op")) {
    matrix.name = "options";
    matrix.blocks.push_back({"cells from the command line", {}});
    return matrix;
  }
  throw InputError("run", "nothing says what to run",
                   "Write --matrix for the default matrix, --cell CELL for one cell, --op with "
                   "other axes, or your "
                   "own command behind `--`");
}

Plan plan_cells(const Matrix& matrix, const RunOptions& options,
                const std::vector<WorkerInfo>& workers) {
  ExpandOptions expansion;
  expansion.fixed = axis_values(options);
  expansion.filters = options.filters;
  expansion.default_backend = best_backend(workers);
  expansion.why_unavailable = [&workers](Backend backend) {
    const std::string reason = why_unavailable(workers, backend);
    return reason.empty()
               ? reason
               : fmt::format("the backend {} cannot be used here: {}", name_of(backend), reason);
  };
  return expand(matrix, operations_of(workers), expansion);
}

namespace {

/// Where crash reports are looked for. A folder that was named has to be there: a run that finds
/// none for a wrong name would look like one without any.
std::vector<std::string> crash_report_folders(const std::vector<std::string>& named) {
  std::vector<std::string> folders;
  for (const std::string& folder : named) {
    if (!std::filesystem::is_directory(folder)) {
      throw InputError("--crash-reports " + printable(folder), "is no folder that can be read",
                       "Name the folder where crash reports (.ips) appear");
    }
    folders.push_back(std::filesystem::absolute(folder).lexically_normal().string());
  }
  if (!folders.empty()) return folders;
  for (const auto& folder : default_report_folders()) folders.push_back(folder.string());
  return folders;
}

/// A profile that is not there is a set-up that fails in every trial.
void check_profiles(const RunOptions& options, const Plan& plan) {
  const std::vector<std::string> known = profile_names();
  const bool elsewhere = std::any_of(
      options.environment.begin(), options.environment.end(),
      [](const std::string& variable) { return variable.starts_with("MPSPROBE_PROFILES="); });
  if (known.empty() || elsewhere) return;  // a worker says what it finds
  std::set<std::string> named;
  const AxisValues values = axis_values(options);
  if (values.contains("profile"))
    named.insert(values.at("profile").begin(), values.at("profile").end());
  named.merge(plan.cells.values_named("profile"));
  named.erase(std::string(find_axis("profile")->default_value));
  for (const std::string& profile : named) {
    if (std::find(known.begin(), known.end(), profile) != known.end()) continue;
    throw InputError("--profile " + printable(profile),
                     "the simulated device has no such profile" + did_you_mean(profile, known),
                     "`mpsprobe list profiles` shows them");
  }
}

/// The rate of --settle, or what the matrix says where everything is real; 0 for a fixed plan. The
/// simulated device's races are certain, and on the CPU LibTorch has none to look for.
double chosen_settle_rate(const RunOptions& options, const Matrix& matrix, const Plan& plan) {
  if (options.settle_rate) return *options.settle_rate;
  if (options.trials || !matrix.run.settle_rate) return 0;
  const std::set<Backend> backends = plan.cells.backends();
  const bool real = std::all_of(backends.begin(), backends.end(), [](Backend backend) {
    const bool looked_for = std::find(kDefaultBackends.begin(), kDefaultBackends.end(), backend) !=
                            kDefaultBackends.end();
    return looked_for || info_of(backend).real_device;
  });
  return real ? *matrix.run.settle_rate : 0;
}

TrialLimits chosen_limits(const RunOptions& options, const Matrix& matrix, int jobs) {
  const uint64_t share = physical_memory_bytes() / 4 * 3 / static_cast<uint64_t>(jobs);
  const TrialLimits limits = options.limits.or_else(matrix.run).with_usual(share);
  if (options.limits.stall_seconds.has_value() && limits.stall_seconds > limits.timeout_seconds) {
    throw InputError("--stall",
                     fmt::format("is longer than the timeout of {:g} s, and would never count",
                                 limits.timeout_seconds),
                     "Write less, or give a longer --timeout");
  }
  return limits;
}

}  // namespace

RunOptions as_in(const CampaignHeader& earlier, const std::filesystem::path& folder,
                 RunOptions options, const std::string& place) {
  if (!options.trials.has_value()) options.trials = earlier.trials;
  if (!options.seed.has_value()) options.seed = earlier.seed;
  if (!options.jobs.has_value()) options.jobs = earlier.jobs;
  options.own_cells = made_here(earlier.origin, folder);
  const bool trusted = options.own_cells || options.trust_run;
  const auto take_over = [&options](const char* option, const std::string& value) {
    options.command_line.insert(options.command_line.end(), {option, value});
  };
  if (options.workers.empty()) {
    if (!trusted) {
      refuse_foreign(earlier, folder, place,
                     "Name the worker to run with --worker NAME=PATH, or add --trust-run if you "
                     "trust whoever made the run");
    }
    for (const WorkerInfo& worker : earlier.workers) {
      options.workers.push_back(worker.name + "=" + worker.path);
      if (names_workers(earlier.command_line)) take_over("--worker", options.workers.back());
    }
    // Of another program it is not known whether it can be started in that way.
    if (!options.start_process.has_value() && earlier.start_process.has_value()) {
      options.start_process = earlier.start_process;
      take_over("--start-process", std::string(name_of(*earlier.start_process)));
    }
  }
  if (options.environment.empty() && trusted) {
    options.environment = earlier.environment;
  } else if (options.environment.empty()) {
    say_left_out_variables(earlier.environment);
  }
  const bool stall_asked = options.limits.stall_seconds.has_value();
  options.limits = options.limits.or_else(like(earlier));
  double& stall = *options.limits.stall_seconds;
  if (!stall_asked) stall = std::min(stall, *options.limits.timeout_seconds);
  return options;
}

namespace {

/// How the processes of trials are started: as was asked for, which is never left silently; else by
/// exec where somebody named the workers, since what their programs make of another way is not
/// known and builds side by side are to be started alike; else in the quickest proven way. Tests
/// are many and short, and collecting them takes far longer than one of them: they are forked
/// wherever all workers can.
std::optional<StartProcess> start_of(const RunOptions& options,
                                     const std::vector<WorkerInfo>& workers) {
  const StartProcess wanted = options.start_process.value_or(StartProcess::fork);
  const auto cannot = std::ranges::find_if(workers, [wanted](const WorkerInfo& worker) {
    return !why_not_started_by(wanted, worker).empty();
  });
  if (!options.start_process.has_value()) {
    if (options.pytest.has_value() && cannot == workers.end()) return StartProcess::fork;
    if (names_workers(options.command_line)) return StartProcess::exec;
    return std::nullopt;
  }
  if (cannot == workers.end()) return wanted;
  throw InputError(fmt::format("--start-process {}", name_of(wanted)),
                   fmt::format("cannot be had of worker {}: {}", cannot->name,
                               printable(why_not_started_by(wanted, *cannot))),
                   "Write --start-process exec");
}

}  // namespace

CampaignHeader plan_campaign(const RunOptions& options) {
  const Matrix matrix = chosen_matrix(options);
  refuse_foreign_variables(options, matrix);
  CampaignHeader header;
  header.environment = asked_environment(options);
  const std::set<std::string> variables = variables_named(matrix, axis_values(options));
  std::vector<std::string> asked = header.environment;
  if (!variables.empty()) asked.push_back(variables_question(variables));
  header.workers = workers_for(options, matrix, asked);
  if (options.expect_torch.has_value()) {
    expect_torch(header.workers, *options.expect_torch);
  }
  Plan plan = plan_cells(matrix, options, header.workers);
  if (options.workers.empty()) keep_useful(header.workers, plan.cells.backends());
  check_profiles(options, plan);
  if (!variables.empty()) check_variables(options, plan, header.workers);
  header.start_process = start_of(options, header.workers);
  header.settle_rate = chosen_settle_rate(options, matrix, plan);
  if (header.settle_rate == 0) {
    for (const Block& block : matrix.blocks) {
      if (block.if_failed) header.follow.push_back(block.title);
    }
  }
  header.trials = header.settle_rate > 0 ? kFloorTrials
                                         : options.trials.value_or(matrix.run.trials.value_or(10));
  const auto trials = static_cast<double>(plan.cells.size()) *
                      static_cast<double>(header.workers.size()) * header.trials;
  if (trials > kMostTrials) {
    throw InputError("--trials",
                     fmt::format("makes {:.0f} trials; {:.0f} is the most", trials, kMostTrials),
                     "Name fewer, or split the matrix");
  }
  header.mpsprobe_version = MPSPROBE_VERSION;
  header.mpsprobe_build = own_build();
  header.started = utc_now();
  header.command_line = options.command_line;
  header.seed = options.seed.value_or(1);
  header.max_failures = options.max_failures.value_or(0);
  header.jobs = chosen_jobs(options, plan.cells.backends(), header.workers);
  static_cast<TrialLimits&>(header) = chosen_limits(options, matrix, header.jobs);
  header.crash_reports = crash_report_folders(options.crash_reports);
  header.machine = machine_facts();
  header.matrix_name = matrix.name;
  header.matrix_description = matrix.description;
  header.cells = std::move(plan.cells);
  header.left_out = std::move(plan.left_out);
  if (options.shard) keep_shard(header, shard_named(*options.shard));
  return header;
}

}  // namespace mpsprobe
