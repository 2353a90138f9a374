#pragma once

#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "harness/journal/journal.h"
#include "harness/process/child.h"
#include "harness/process/fork_server.h"
#include "harness/wire/assignment.h"
#include "harness/wire/cell.h"
#include "harness/wire/start_process.h"

namespace mpsprobe {

/// Whether a worker's answer to `describe` says that its processes can be started in that way here;
/// empty, or why not.
std::string why_not_started_by(StartProcess start, const WorkerInfo& worker);

/// The build of a worker with ThreadSanitizer: what lies beside it under its name with -tsan. Empty
/// where there is none.
std::string sanitized_build(const std::string& path);

/// What makes processes of a worker alike before they know their cell.
struct WorkerKind {
  const WorkerInfo* worker = nullptr;
  Backend backend = Backend::cpu;
  Sanitizer sanitizer = Sanitizer::none;
  std::vector<std::string> environment;  ///< of the process, complete: a library reads it as it is
                                         ///< loaded
};

/// Makes the processes of trials, in the way that was chosen, and keeps what that needs: processes
/// that stand by, and servers that fork. Where it cannot be done in that way, the program is
/// executed and the record says why. Safe to use from several threads.
class WorkerStarts {
 public:
  /// `chosen`: how; nothing: in the quickest way that was proven for the backend, where the worker
  /// has it. `interrupted` must outlive this.
  WorkerStarts(ChildLimits limits, std::optional<StartProcess> chosen,
               const std::atomic<bool>& interrupted);
  WorkerStarts(const WorkerStarts&) = delete;
  WorkerStarts& operator=(const WorkerStarts&) = delete;
  /// Ends what stands by, and the servers.
  ~WorkerStarts();

  /// A process that knows what to do.
  struct Started {
    std::unique_ptr<Child> child;
    StartProcess start = StartProcess::exec;
    std::string remark;  ///< why not in the way that was chosen
  };
  Started start(const WorkerKind& kind, const Assignment& assignment,
                Child::Clock::time_point trial_start);

  /// The next trial will want `processes` of this kind: where they stand by, they are started now.
  void expect(const WorkerKind& kind, int processes);

 private:
  /// Of a kind: path, backend, environment.
  using Key = std::string;
  struct Waiting {
    Key key;
    std::unique_ptr<Child> child;
  };
  struct Server {
    std::shared_ptr<ForkServer> server;
    int deaths = 0;
    std::string given_up;  ///< why there will be none
    uint64_t used = 0;
  };

  StartProcess way(const WorkerKind& kind, std::string& remark) const;
  Started execute(const WorkerKind& kind, const Assignment& assignment,
                  Child::Clock::time_point trial_start, std::string remark) const;
  std::unique_ptr<Child> take_waiting(const Key& key);
  std::shared_ptr<ForkServer> server_for(const WorkerKind& kind, const Key& key,
                                         std::string& problem);
  void note_problem(const Key& key, const std::shared_ptr<ForkServer>& server,
                    const ForkServer::Forked& forked);
  std::unique_ptr<Child> forked(const WorkerKind& kind, std::string& problem);

  ChildLimits limits_;
  std::optional<StartProcess> chosen_;
  const std::atomic<bool>& interrupted_;
  std::mutex mutex_;
  std::list<Waiting> waiting_;  ///< the oldest first
  std::map<Key, Server> servers_;
  uint64_t uses_ = 0;
};

}  // namespace mpsprobe
