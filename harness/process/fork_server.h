#pragma once

#include <sys/types.h>

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "harness/process/spawn.h"

namespace mpsprobe {

/// A process of a worker that has loaded its library and forks trials (docs/protocol.md). What it
/// forks loses its parent at once and so becomes a child of this process, which waits for it as for
/// any other: where the server dies, no trial and no status is lost with it. Linux alone; elsewhere
/// one that was made is gone at once and says why. Safe to use from several threads.
class ForkServer {
 public:
  /// Starts `arguments`. Throws std::system_error where that is not possible.
  ForkServer(const std::vector<std::string>& arguments, std::vector<std::string> environment);
  ForkServer(const ForkServer&) = delete;
  ForkServer& operator=(const ForkServer&) = delete;
  /// Ends it. What it forked goes on.
  ~ForkServer();

  struct Forked {
    pid_t pid = -1;        ///< a child of this process, in a group of its own
    std::string problem;   ///< why there is none
    bool refused = false;  ///< the server lives, and will not fork
  };

  /// A forked process with these descriptors and this mark (descendants.h), which then waits for
  /// its assignment. Waits `seconds` at most, for a server that loads its library, or until
  /// `interrupted`. After a problem without a refusal the server is gone, and so is what it may
  /// have forked.
  Forked fork_trial(const std::vector<std::pair<int, int>>& descriptors, const std::string& mark,
                    double seconds, const std::atomic<bool>& interrupted);

 private:
  std::string ask(const std::vector<std::pair<int, int>>& descriptors, const std::string& mark);
  std::string answer(double seconds, const std::atomic<bool>& interrupted, std::string& problem);
  void end();

  std::mutex mutex_;
  std::string mark_;
  Descriptor control_;
  pid_t pid_ = -1;
  std::string ended_;  ///< how, once it has
};

}  // namespace mpsprobe
