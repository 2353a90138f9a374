#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reports/analysis/analysis.h"
#include "reports/analysis/trial_facts.h"

namespace mpsprobe {

/// Which arm every trial of a journal belongs to. An arm is one worker with one build of the
/// library on one device; where a worker's trials differ in that, it has several, and they are kept
/// apart.
struct Arms {
  std::vector<Arm> arms;             ///< those of one worker together, in the order of the plan
  std::vector<uint32_t> of_trial;    ///< by index into the journal's trials
  std::vector<std::string> divided;  ///< workers with more than one arm
};

/// Pure; never throws for what a worker claimed, however odd.
Arms divide_into_arms(const Journal& journal, const TrialFactsList& trials);

}  // namespace mpsprobe
