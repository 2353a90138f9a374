#include "harness/outcome/process_for_tests.h"

#include <utility>

namespace mpsprobe {

ProcessRecord ended_process(Termination termination, const std::string& err) {
  ProcessRecord process;
  process.termination = std::move(termination);
  process.err.head = err;
  process.err.bytes = err.size();
  process.hello = HelloEvent{kProtocolVersion, "{}"};
  process.ready = true;
  process.recorder.phase = Phase::run;
  process.recorder.threads = {{0, "linear", 3, Step::synchronising},
                              {1, "linear", 4, Step::launching}};
  return process;
}

ProcessRecord finished_process(const std::string& err) {
  ProcessRecord process = ended_process(Exited{0}, err);
  process.result = ResultEvent{40, 0.1, 40, 0, "nograph"};
  return process;
}

}  // namespace mpsprobe
