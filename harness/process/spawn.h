#pragma once

#include <sys/types.h>

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "harness/folder/descriptor.h"

namespace mpsprobe {

/// Both ends of a pipe, close-on-exec and numbered above what a child uses.
struct Pipe {
  Descriptor read;
  Descriptor write;
};

/// Throws std::system_error where the system gives no more descriptors.
Pipe make_pipe();

struct SpawnRequest {
  std::vector<std::string> arguments;    ///< the first is the path of the program, taken as it is
  std::vector<std::string> environment;  ///< all of it, as K=V
  std::vector<std::pair<int, int>> descriptors;  ///< ours, the child's; standard input is /dev/null
};

struct SpawnResult {
  pid_t pid = -1;
  int error = 0;  ///< errno; 0 where the child runs
};

/// Texts as exec takes them, good as long as these are.
std::vector<char*> exec_pointers(const std::vector<std::string>& texts);

/// Starts a program as the leader of a process group of its own, with default signal handling, an
/// empty signal mask, and no descriptor open but those asked for. Safe from several threads.
SpawnResult spawn(const SpawnRequest& request);

/// Processes that `spawn` started and that nobody has said to have reaped: what else is a child of
/// this program was adopted (descendants.h), and is nobody's to wait for. Nothing is started while
/// one of these exists.
class StartedProcesses {
 public:
  StartedProcesses();
  bool contains(pid_t pid) const;
  void started(pid_t pid);
  void reaped(pid_t pid);

 private:
  std::unique_lock<std::mutex> lock_;
};

}  // namespace mpsprobe
