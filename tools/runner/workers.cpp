#include "tools/runner/workers.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "harness/executor/environment.h"
#include "harness/platform/executable.h"
#include "harness/process/command.h"
#include "harness/wire/axis.h"
#include "harness/wire/event.h"
#include "harness/wire/input_error.h"
#include "reports/text.h"
#include "tools/runner/machine_error.h"

namespace mpsprobe {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr double kDescribeSeconds = 60;

std::string how_it_ended(const CommandResult& result) {
  if (result.timed_out) return fmt::format("did not answer within {:.0f} s", kDescribeSeconds);
  if (const auto* failed = std::get_if<NotSpawned>(&result.termination)) {
    return "cannot be started: " + failed->what;
  }
  if (const auto* signaled = std::get_if<Signaled>(&result.termination)) {
    return "died of " + signal_name(signaled->signal);
  }
  return fmt::format("ended with exit code {}", std::get<Exited>(result.termination).code);
}

json describe(const std::string& name, const std::string& path,
              const std::vector<std::string>& environment) {
  const std::string who = fmt::format("worker {} ({})", name, path);
  if (!fs::exists(path)) {
    throw MachineError(
        fmt::format("{} does not exist. Build it (tools/mpsprobe does), or name "
                    "another with --worker {}=PATH",
                    who, name));
  }
  const CommandResult result =
      run_command({path, "describe"}, kDescribeSeconds,
                  worker_environment(Cell{}, inherited_environment(), environment));
  if (result.timed_out || result.termination != Termination(Exited{0})) {
    const std::string last = last_lines(result.err, 3, 300);
    throw MachineError(
        fmt::format("{} {} when asked what it is{}{}. Run \"{} describe\" to see why", who,
                    how_it_ended(result), last.empty() ? "" : ": ", last, path));
  }
  const auto shallow = [](int depth, json::parse_event_t, const json&) { return depth <= 16; };
  json answer = json::parse(result.out, shallow, false);
  if (!answer.is_object() || !answer.contains("mpsprobe_worker")) {
    throw MachineError(
        fmt::format("{} does not answer as a worker. Name a program that speaks the protocol of "
                    "docs/protocol.md",
                    who));
  }
  if (answer.at("mpsprobe_worker") != kProtocolVersion) {
    throw MachineError(
        fmt::format("{} speaks version {} of the protocol, this runner speaks {}. "
                    "Build both from one checkout",
                    who, answer.at("mpsprobe_worker").dump().substr(0, 20), kProtocolVersion));
  }
  try {
    operations_from(answer);
    for (const json& backend : answer.at("backends")) {
      backend.at("name").get<std::string>();
      backend.at("available").get<bool>();
      backend.at("reason").get<std::string>();
    }
  } catch (const InputError& error) {
    throw MachineError(who + ": " + error.what());
  } catch (const json::exception& error) {
    throw MachineError(fmt::format("{}: its answer is not of the form in docs/protocol.md: {}", who,
                                   error.what()));
  }
  return answer;
}

std::string text_at(const json& object, const char* key) {
  return object.contains(key) && object.at(key).is_string() ? object.at(key).get<std::string>()
                                                            : "";
}

}  // namespace

std::vector<WorkerInfo> find_workers(const std::vector<std::string>& options,
                                     const std::vector<std::string>& environment) {
  std::vector<WorkerInfo> workers;
  for (const std::string& option : options) {
    const size_t equals = option.find('=');
    const std::string name = option.substr(0, equals);
    const bool word = !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
    });
    if (equals == std::string::npos || equals + 1 == option.size() || !word) {
      throw InputError("--worker", "\"" + printable(option) + "\" is not NAME=PATH",
                       "Write for example --worker fork=build/fork/bin/mpsprobe-worker");
    }
    for (const WorkerInfo& other : workers) {
      if (other.name == name) throw InputError("--worker", name + " is given twice", "Rename one");
    }
    const std::string path = fs::absolute(option.substr(equals + 1)).lexically_normal().string();
    workers.push_back({name, path, describe(name, path, environment)});
  }
  if (workers.empty()) {
    const std::string path = (executable_path().parent_path() / "mpsprobe-worker").string();
    workers.push_back({"stock", path, describe("stock", path, environment)});
  }
  return workers;
}

Operations operations_of(const std::vector<WorkerInfo>& workers) {
  Operations operations;
  for (const WorkerInfo& worker : workers) operations.merge(operations_from(worker.describe));
  return operations;
}

std::string why_unavailable(const std::vector<WorkerInfo>& workers, Backend backend) {
  std::string reason = "no worker has it";
  for (const WorkerInfo& worker : workers) {
    for (const json& entry : worker.describe.at("backends")) {
      if (entry.at("name") != name_of(backend)) continue;
      if (entry.at("available").get<bool>()) return "";
      reason = printable(entry.at("reason").get<std::string>());
    }
  }
  return reason;
}

Backend best_backend(const std::vector<WorkerInfo>& workers) {
  for (Backend backend : {Backend::mps, Backend::cuda, Backend::sim}) {
    if (why_unavailable(workers, backend).empty()) return backend;
  }
  return Backend::cpu;
}

void expect_torch(const std::vector<WorkerInfo>& workers, const std::string& expected) {
  const bool by_git = expected.starts_with("git:");
  const bool by_uuid = expected.starts_with("uuid:");
  const std::string value = expected.substr(by_git ? 4 : by_uuid ? 5 : 0);
  if (value.empty() || (by_git && value.size() < 7)) {
    throw InputError("--expect-torch", "\"" + printable(expected) + "\" names no LibTorch",
                     "Write a version (2.15.0), git:HASH with 7 characters or more, or uuid:ID");
  }
  for (const WorkerInfo& worker : workers) {
    const json torch = worker.describe.value("/provenance/torch"_json_pointer, json::object());
    const std::string version = text_at(torch, "version");
    const std::string git = text_at(torch, "git_hash");
    const std::string id = text_at(torch, "build_id") + text_at(torch, "uuid");
    // "2.15.0" is every build of that version, "2.15.0+cu130" only that one.
    const bool right = by_git    ? git.starts_with(value)
                       : by_uuid ? id == value
                                 : version == value || version.starts_with(value + "+");
    if (right) continue;
    throw MachineError(fmt::format(
        "--expect-torch {}: worker {} loads LibTorch {} (git {}, id {}) from {}. Nothing was run; "
        "build the worker against the right one, or name it with --worker",
        printable(expected), worker.name, version.empty() ? "none" : version,
        git.empty() ? "unknown" : git, id.empty() ? "unknown" : id,
        torch.contains("path") ? text_at(torch, "path") : "nowhere"));
  }
}

}  // namespace mpsprobe
