#include "harness/executor/worker_starts.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "harness/platform/system.h"
#include "harness/process/descendants.h"
#include "harness/process/fixed_addresses.h"

namespace mpsprobe {
namespace {

using nlohmann::json;

constexpr size_t kMostWaiting = 16;
constexpr size_t kMostServers = 8;
// A server that dies of its library's start would die each time.
constexpr int kMostDeaths = 3;
// To load a large library from a cold disk.
constexpr double kLoadSeconds = 60;

bool names_start(const WorkerInfo& worker, StartProcess start) {
  const auto starts = worker.describe.find("starts");
  return starts != worker.describe.end() && starts->is_array() &&
         std::find(starts->begin(), starts->end(), json(name_of(start))) != starts->end();
}

// Whether the cell's build of the worker is another than the one that was described.
bool in_sanitized_build(const WorkerKind& kind) {
  return kind.sanitizer != Sanitizer::none && !sanitized_build(kind.worker->path).empty();
}

std::string key_of(const WorkerKind& kind) {
  std::string key = kind.worker->path + '\0' + std::string(name_of(kind.backend));
  for (const std::string& variable : kind.environment) key += '\0' + variable;
  return key;
}

std::vector<std::string> ahead(const WorkerKind& kind, StartProcess start) {
  return {kind.worker->path, std::string(name_of(start)), "--backend",
          std::string(name_of(kind.backend))};
}

}  // namespace

std::string why_not_started_by(StartProcess start, const WorkerInfo& worker) {
  if (start == StartProcess::exec) return "";
  if (start == StartProcess::fork && !takes_orphans()) {
    return kSystem == System::macos ? "macOS has no safe fork without exec"
                                    : "this system does not give orphans to another process";
  }
  if (names_start(worker, start)) return "";
  const auto why = worker.describe.find("no_fork");
  if (start == StartProcess::fork && why != worker.describe.end() && why->is_string()) {
    return why->get<std::string>();
  }
  return "its answer to `describe` does not name it in `starts`";
}

std::string sanitized_build(const std::string& path) {
  const std::string build = path + "-tsan";
  return access(build.c_str(), X_OK) == 0 ? build : "";
}

WorkerStarts::WorkerStarts(ChildLimits limits, std::optional<StartProcess> chosen,
                           const std::atomic<bool>& interrupted)
    : limits_(std::move(limits)), chosen_(chosen), interrupted_(interrupted) {}

WorkerStarts::~WorkerStarts() = default;

StartProcess WorkerStarts::way(const WorkerKind& kind, std::string& remark) const {
  if (in_sanitized_build(kind)) return StartProcess::exec;
  const StartProcess start = chosen_.value_or(info_of(kind.backend).quickest_start);
  const std::string why = why_not_started_by(start, *kind.worker);
  if (why.empty()) return start;
  if (chosen_.has_value()) remark = why;
  return StartProcess::exec;
}

WorkerStarts::Started WorkerStarts::start(const WorkerKind& kind, const Assignment& assignment,
                                          Child::Clock::time_point trial_start) {
  std::string remark;
  const StartProcess start = way(kind, remark);
  if (start == StartProcess::exec) return execute(kind, assignment, trial_start, remark);
  std::unique_ptr<Child> child;
  if (start == StartProcess::fork) {
    child = forked(kind, remark);
  } else {
    child = take_waiting(key_of(kind));
    if (child == nullptr) remark = "none stood by yet";
  }
  if (child != nullptr && child->begin(to_line(assignment), trial_start)) {
    return {std::move(child), start, ""};
  }
  if (child != nullptr) remark = "it ended before it was told its cell";
  child.reset();
  return execute(kind, assignment, trial_start, remark);
}

WorkerStarts::Started WorkerStarts::execute(const WorkerKind& kind, const Assignment& assignment,
                                            Child::Clock::time_point trial_start,
                                            std::string remark) const {
  const std::string program =
      in_sanitized_build(kind) ? sanitized_build(kind.worker->path) : kind.worker->path;
  const std::vector<std::string> arguments{program,       "run",
                                           "--cell",      assignment.cell,
                                           "--process",   std::to_string(assignment.process),
                                           "--iteration", std::to_string(assignment.iteration),
                                           "--seed",      std::to_string(assignment.seed)};
  const FixedAddresses fixed(kind.sanitizer == Sanitizer::thread);
  return {std::make_unique<Child>(arguments, kind.environment, limits_, trial_start),
          StartProcess::exec, std::move(remark)};
}

void WorkerStarts::expect(const WorkerKind& kind, int processes) {
  std::string remark;
  if (way(kind, remark) != StartProcess::standby) return;
  const Key key = key_of(kind);
  const std::lock_guard<std::mutex> lock(mutex_);
  auto there = std::count_if(waiting_.begin(), waiting_.end(),
                             [&key](const Waiting& waiting) { return waiting.key == key; });
  for (; there < std::min<long>(processes, kMostWaiting); ++there) {
    auto child = std::make_unique<Child>(ahead(kind, StartProcess::standby), kind.environment,
                                         limits_, Child::Clock::now());
    // It may be short of processes or descriptors; the trial itself will say so.
    if (child->finished()) return;
    waiting_.push_back({key, std::move(child)});
    if (waiting_.size() > kMostWaiting) waiting_.pop_front();
  }
}

std::unique_ptr<Child> WorkerStarts::take_waiting(const Key& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto at = std::find_if(waiting_.begin(), waiting_.end(),
                               [&key](const Waiting& waiting) { return waiting.key == key; });
  if (at == waiting_.end()) return nullptr;
  std::unique_ptr<Child> child = std::move(at->child);
  waiting_.erase(at);
  return child;
}

std::shared_ptr<ForkServer> WorkerStarts::server_for(const WorkerKind& kind, const Key& key,
                                                     std::string& problem) {
  std::shared_ptr<ForkServer> evicted;  // ended without the lock
  const std::lock_guard<std::mutex> lock(mutex_);
  Server& entry = servers_[key];
  entry.used = ++uses_;
  if (!entry.given_up.empty()) {
    problem = entry.given_up;
    return nullptr;
  }
  if (entry.server != nullptr) return entry.server;
  const auto alive = [](const auto& each) { return each.second.server != nullptr; };
  if (std::count_if(servers_.begin(), servers_.end(), alive) >= static_cast<long>(kMostServers)) {
    auto oldest = servers_.end();
    for (auto at = servers_.begin(); at != servers_.end(); ++at) {
      if (!alive(*at)) continue;
      if (oldest == servers_.end() || at->second.used < oldest->second.used) oldest = at;
    }
    evicted = std::move(oldest->second.server);
    oldest->second.server = nullptr;
  }
  try {
    entry.server = std::make_shared<ForkServer>(ahead(kind, StartProcess::fork), kind.environment);
  } catch (const std::system_error& error) {
    problem = error.what();
  }
  return entry.server;
}

void WorkerStarts::note_problem(const Key& key, const std::shared_ptr<ForkServer>& server,
                                const ForkServer::Forked& forked) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Server& entry = servers_[key];
  if (entry.server != server) return;  // another thread has seen it before
  if (!forked.refused && ++entry.deaths < kMostDeaths) {
    entry.server = nullptr;
    return;
  }
  entry.given_up = forked.problem;
  entry.server = nullptr;
}

std::unique_ptr<Child> WorkerStarts::forked(const WorkerKind& kind, std::string& problem) {
  const Key key = key_of(kind);
  const std::shared_ptr<ForkServer> server = server_for(kind, key, problem);
  if (server == nullptr) return nullptr;
  ForkServer::Forked result;
  auto child = std::make_unique<Child>(
      std::vector<std::string>{kind.worker->path}, std::vector<std::string>{}, limits_,
      Child::Clock::now(), [&](const SpawnRequest& request) {
        result = server->fork_trial(request.descriptors, request.environment.back(), kLoadSeconds,
                                    interrupted_);
        return SpawnResult{result.pid, result.pid > 0 ? 0 : ECHILD};
      });
  if (result.pid > 0) return child;
  if (!result.problem.empty()) note_problem(key, server, result);
  problem = result.problem;
  return nullptr;
}

}  // namespace mpsprobe
