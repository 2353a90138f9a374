#include "tools/runner/bisect/bisect_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "harness/campaign/campaign.h"
#include "harness/campaign/merge.h"
#include "harness/input/input_error.h"
#include "harness/input/input_file.h"
#include "harness/wire/ascii.h"
#include "harness/wire/loaded_library.h"
#include "harness/wire/own_command.h"
#include "reports/words/safe_text.h"
#include "tools/runner/bisect/build_trials.h"
#include "tools/runner/machine_error.h"
#include "tools/runner/request_file.h"
#include "tools/runner/run/own_code.h"
#include "tools/runner/run/recorded_trials.h"
#include "tools/runner/run/run_origin.h"
#include "tools/runner/say.h"
#include "tools/runner/workers/workers.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr size_t kMostListBytes = size_t{1} << 20;

constexpr int kUsualThreads = 4;

std::string cell_of(const WorkerInfo& worker, int threads) {
  const Operations operations = operations_of({worker});
  if (operations.size() != 1) {
    std::string names;
    for (const auto& each : operations) names += (names.empty() ? "" : ", ") + each.first;
    throw InputError("bisect",
                     fmt::format("the code is {} functions or tests: {}", operations.size(),
                                 shortened(printable(names), 300)),
                     "Name one of them, or a cell");
  }
  const std::string backend = worker.describe.at("backends").at(0).at("name");
  return fmt::format("{}/{}/default/threads={}", backend, operations.begin()->first, threads);
}

/// What --make "pip install REQUIREMENT..." is short for: a worker of Python, or of commands, in an
/// environment of its own with these requirements (docs/python.md). Other commands stay as they
/// are. Throws InputError where the worker is missing.
std::string with_environment(const std::string& make, bool command) {
  for (const std::string_view pip : {"pip install ", "uv pip install "}) {
    if (!make.starts_with(pip)) continue;
    std::string python = shell_quoted(python_worker()) + " environment " + make.substr(pip.size());
    if (!command) return python;
    // By a link in the environment the worker of commands knows that it is of that.
    return fmt::format(
        "python=$({}) && own=$(dirname \"$python\")/mpsprobe-command-worker && "
        "ln -sf {} \"$own\" && echo \"$own\"",
        python, shell_quoted(command_worker()));
  }
  return make;
}

bool names_threads(const std::vector<std::string>& command) {
  return names_parameter(OwnCommand{command, {}, {}, {}}, "threads");
}

/// The cell of the code that the request's environment names, with the backend that the newest
/// build says that it computes on, and the threads that were asked for. Makes that build's worker,
/// and those before it where it cannot be made. Throws InputError where none can run the code, and
/// where it is more than one function or test.
std::string own_code_cell(BisectRequest& request) {
  std::string why;
  const BisectOptions& options = request.options;
  for (auto build = request.builds.rbegin(); build != request.builds.rend(); ++build) {
    try {
      if (build->path.empty()) build->path = make_worker(options.make, build->name);
      const WorkerInfo worker =
          ask_worker({build->name, build->path}, options.environment,
                     options.limits.timeout_seconds.value_or(kDescribeSeconds));
      const bool one = !options.command.empty() && !names_threads(options.command);
      return cell_of(worker, options.threads.value_or(one ? 1 : kUsualThreads));
    } catch (const UnusableBuild& unusable) {
      why = unusable.what();
    } catch (const MachineError& failed) {
      why = failed.what();
    }
    say(stderr, "mpsprobe: {}: {}\n", build->name, printable(why));
  }
  throw InputError("bisect", "no build can run the code: " + shortened(printable(why), 300),
                   options.make.empty() ? "Name workers, or add --make 'pip install mlx=={}'"
                                        : "Look at --make, or name a cell");
}

std::vector<std::string> build_list(const std::string& text) {
  std::error_code error;
  std::string list = text;
  if (fs::is_regular_file(text, error) && text.find(',') == std::string::npos) {
    list = read_input_file(text, kMostListBytes, "Name builds, or a file of them, one a line");
    // A worker's path alone is one build, which there is nothing to bisect in.
    std::replace(list.begin(), list.end(), '\n', ',');
  }
  std::vector<std::string> builds;
  std::istringstream words(list);
  for (std::string word; std::getline(words, word, ',');) {
    const size_t begin = word.find_first_not_of(" \t\r");
    if (begin == std::string::npos || word[begin] == '#') continue;
    builds.push_back(word.substr(begin, word.find_last_not_of(" \t\r") - begin + 1));
  }
  return builds;
}

bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= 100 && text != "." && text != ".." &&
         ascii::all_plain(text);
}

Build named_build(const std::string& text, bool made) {
  Build build;
  const size_t equals = text.find('=');
  build.name = made ? text : text.substr(0, equals);
  if (!made && equals == std::string::npos) build.name = fs::path(text).filename().string();
  if (!is_name(build.name)) {
    throw InputError("--builds", "\"" + shortened(printable(text), 80) + "\" has no plain name",
                     made ? "Names are letters, digits, '-', '_' and '.'" : "Write NAME=PATH");
  }
  if (made) return build;
  build.path = fs::absolute(equals == std::string::npos ? text : text.substr(equals + 1))
                   .lexically_normal()
                   .string();
  return build;
}

/// What earlier runs say of the builds.
void count_earlier(BisectRequest& request) {
  for (const std::string& folder : request.options.from) {
    const std::vector<NamedJournal> runs = runs_below(folder);
    if (runs.empty()) {
      throw InputError("--from " + printable(folder), "holds no run",
                       "Name the folder of a run with trials of this cell");
    }
    for (const NamedJournal& run : runs) {
      for (Build& build : request.builds) {
        std::set<std::string> workers;
        for (const WorkerInfo& worker : run.journal.header.workers) {
          const std::string version =
              library_under_test(worker.describe.value("provenance", json::object())).version;
          if (worker.name == build.name || worker.path == build.path || version == build.name) {
            workers.insert(worker.name);
          }
        }
        for_each_trial(run.journal, [&](const TrialRecord& trial) {
          if (to_string(trial.cell) != request.options.cell || !workers.contains(trial.worker)) {
            return;
          }
          if (is_unsettled(trial)) return;
          count_result(result_of(trial), request.options.signature, build.seen);
        });
      }
    }
  }
}

/// What a bisection that goes on needs of what it was asked for, with the keys in its request.json.
void each_option_kept(auto& options, const auto& take) {
  take("cell", options.cell);
  take("make", options.make);
  take("signature", options.signature);
  take("confidence", options.confidence);
  take("most_trials", options.most_trials);
  take("confirm", options.confirm);
  take("timeout", options.limits.timeout_seconds);
  take("stall", options.limits.stall_seconds);
  take("memory_limit_bytes", options.limits.memory_limit_bytes);
  take("seed", options.seed);
  take("environment", options.environment);
  take("start_process", options.start_process);
}

void each_fact_kept(auto& build, const auto& take) {
  take("name", build.name);
  take("path", build.path);
  take("known_failures", build.seen.failures);
  take("known_trials", build.seen.trials);
}

}  // namespace

bool count_result(const TrialResult& result, const std::string& signature, Proportion& seen) {
  if (!is_evidence(result.outcome)) return false;
  ++seen.trials;
  const bool counts = result.signature.find(signature) != std::string::npos;
  seen.failures += is_failure(result.outcome) && counts ? 1 : 0;
  return true;
}

BisectRequest bisect_request(const BisectOptions& options) {
  BisectRequest request;
  request.options = options;
  const std::optional<std::string> code = own_code_variable(request.options);
  if (options.cell.empty() && !code) {
    throw InputError("bisect", "nothing says which cell",
                     "Name it as `mpsprobe list cells` shows it, or your own code with --python");
  }
  if (code) {
    request.options.environment.push_back(*code);
    request.options.pytest.reset();  // a build is started as any other
    request.options.make = with_environment(options.make, !request.options.command.empty());
  }
  if (!options.cell.empty()) {
    if (options.threads) {
      throw InputError("--threads", "is for own code without a cell",
                       "Write it into the cell: threads=" + std::to_string(*options.threads));
    }
    try {
      request.options.cell = to_string(parse_cell(options.cell));
    } catch (const InputError& error) {
      throw InputError("bisect", error.problem(), error.remedy());
    }
  }
  std::set<std::string> names;
  for (const std::string& text : build_list(options.builds)) {
    request.builds.push_back(named_build(text, !options.make.empty()));
    if (!names.insert(request.builds.back().name).second) {
      throw InputError("--builds", request.builds.back().name + " is named twice",
                       "Name each build once; two paths may be told apart as NAME=PATH");
    }
  }
  if (request.builds.size() < 2) {
    throw InputError(
        "--builds", "names fewer than two builds",
        "Name them oldest first: --builds 0.30.6,0.31.1,0.31.2, or a file with one on each line");
  }
  if (request.options.cell.empty()) request.options.cell = own_code_cell(request);
  count_earlier(request);
  return request;
}

void write_bisect_request(const fs::path& folder, const BisectRequest& request) {
  json object{
      {"mpsprobe_bisect_request", 1}, {"builds", json::array()}, {"origin", origin_of(folder)}};
  each_option_kept(request.options, into_request(object));
  for (const Build& build : request.builds) {
    each_fact_kept(build, into_request(object["builds"].emplace_back()));
  }
  write_request_file(folder, object);
}

BisectRequest read_bisect_request(const fs::path& folder, const BisectOptions& now) {
  const std::string where = "--resume " + printable(folder.string());
  BisectRequest request;
  std::string origin;
  request.options = now;
  read_request_file(folder, "mpsprobe_bisect_request", where, "bisection", [&](const json& object) {
    each_option_kept(request.options, out_of_request(object));
    request.options.cell = to_string(parse_cell(request.options.cell));
    origin = object.value("origin", "");
    for (const json& each : object.at("builds")) {
      each_fact_kept(request.builds.emplace_back(), out_of_request(each));
    }
  });
  const bool plain =
      request.builds.size() >= 2 &&
      std::all_of(request.builds.begin(), request.builds.end(), [](const Build& build) {
        return is_name(build.name) && build.seen.failures >= 0 &&
               build.seen.failures <= build.seen.trials;
      });
  if (!plain) throw InputError(where, "its request.json makes no sense", "Begin a new one");
  if (!now.trust_run) {
    WouldStart what{{}, request.options.environment};
    if (!request.options.make.empty()) what.programs.push_back("--make: " + request.options.make);
    for (const Build& build : request.builds) {
      if (!build.path.empty()) what.programs.push_back(build.name + ": " + build.path);
    }
    refuse_foreign(origin, folder, what, where,
                   "Add --trust-run if you trust whoever made it, or begin a new one");
  }
  return request;
}

}  // namespace mpsprobe
