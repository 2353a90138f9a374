#ifdef __APPLE__
#include "harness/process/fork_server.h"

namespace mpsprobe {

// Of Apple's frameworks none is safe in a process that forked and did not exec.
ForkServer::ForkServer(const std::vector<std::string>&, std::vector<std::string>)
    : ended_("macOS has no safe fork without exec") {}

ForkServer::~ForkServer() = default;

ForkServer::Forked ForkServer::fork_trial(const std::vector<std::pair<int, int>>&,
                                          const std::string&, double, const std::atomic<bool>&) {
  return {-1, ended_, true};
}

}  // namespace mpsprobe
#endif
