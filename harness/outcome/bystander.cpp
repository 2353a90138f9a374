#include "harness/outcome/bystander.h"

#include <algorithm>

#include "harness/outcome/reported.h"
#include "harness/signature/find_failures.h"

namespace mpsprobe {

bool is_victim(const Finding& finding) {
  return finding.title == kInnocentVictim;
}

bool reported_as_a_victim(const ProcessRecord& process) {
  return std::all_of(process.failures.begin(), process.failures.end(),
                     [](const FailureEvent& failure) {
                       const ReportedFailure told = read_failure(failure);
                       return !is_failure(told.outcome) || told.title == kInnocentVictim ||
                              told.outcome == Outcome::wrong_result;
                     });
}

bool saw_itself_as_a_victim(const ProcessRecord& process, const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(), is_victim) ||
         std::any_of(process.failures.begin(), process.failures.end(),
                     [](const FailureEvent& failure) {
                       return read_failure(failure).title == kInnocentVictim;
                     });
}

bool only_a_victim(const ProcessRecord& process, const std::vector<Finding>& findings) {
  return !findings.empty() && std::all_of(findings.begin(), findings.end(), is_victim) &&
         reported_as_a_victim(process);
}

}  // namespace mpsprobe
