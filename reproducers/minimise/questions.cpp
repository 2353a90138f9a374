#include "reproducers/minimise/questions.h"

#include "harness/matrix/expand.h"

namespace mpsprobe {

Questions::Questions(const MinimiseRequest& request, const RunTrial& run_trial,
                     const MinimiseObserver& observer, const Minimum& minimum)
    : request_(request), run_trial_(run_trial), observer_(observer), minimum_(minimum) {}

bool Questions::run(const std::string& asked, const Cell& cell, Tally& tally, int& spent) {
  int& index = next_index_[to_string(cell)];
  while (tally.no_evidence < kMostWithoutEvidence) {
    const std::optional<TrialResult> result = run_trial_(cell, index);
    if (!result.has_value()) throw Stopped();
    ++index;
    ++spent;
    const bool counts = is_evidence(result->outcome);
    if (counts) {
      last_ = *result;
      ++tally.trials;
      if (is_failure(result->outcome)) {
        ++(result->signature == minimum_.signature ? tally.failures : tally.other);
      }
    } else {
      ++tally.no_evidence;
    }
    if (observer_.on_trial) observer_.on_trial(asked, cell, tally);
    if (counts) return true;
    // It will not be supported the next time either.
    if (result->outcome == Outcome::unsupported) return false;
  }
  return false;
}

void Questions::tell(const Reduction& step) const {
  if (observer_.on_step) observer_.on_step(step);
}

std::string Questions::contradiction_of(const Cell& cell) const {
  const auto operation = request_.operations.find(cell.op);
  if (operation == request_.operations.end()) return "the worker has no such operation";
  return contradiction(cell, operation->second).value_or("");
}

}  // namespace mpsprobe
