#include "harness/executor/misbehaving_worker_for_tests.h"

#include <signal.h>

#include <nlohmann/json.hpp>

#include "harness/executor/environment.h"
#include "harness/process/command.h"

namespace mpsprobe {

MisbehavingWorker::MisbehavingWorker() {
  signal(SIGPIPE, SIG_IGN);  // as the runner does
  worker_.name = "stock";
  worker_.path = path();
  worker_.describe =
      nlohmann::json::parse(run_command({path(), "describe"}, 60, inherited_environment()).out);
  limits_.timeout = 60;
  limits_.stall = 0.5;
  limits_.grace = 0.3;
  limits_.memory_bytes = uint64_t{1} << 30;
}

std::string MisbehavingWorker::path() {
  return std::string(MPSPROBE_BINARY_DIR) + "/bin/mpsprobe-selftest-worker";
}

TrialRequest MisbehavingWorker::request(const std::string& cell) const {
  TrialRequest request;
  request.worker = &worker_;
  request.cell = parse_cell(cell);
  request.seed = 1;
  return request;
}

TrialRecord MisbehavingWorker::run(const std::string& cell) const {
  return Executor(limits_, extra_, interrupted_).run(request(cell));
}

TrialRecord MisbehavingWorker::misbehave(const std::string& name, int threads) const {
  return run("cpu/selftest." + name + "/default/threads=" + std::to_string(threads));
}

}  // namespace mpsprobe
