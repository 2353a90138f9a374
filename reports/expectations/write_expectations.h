#pragma once

#include <string>
#include <vector>

#include "reports/difference/run_facts.h"
#include "reports/expectations/expectations.h"
#include "reports/expectations/judge_expectations.h"

namespace mpsprobe {

/// A file of known failures with what a run adds to it.
struct ExpectationsUpdate {
  std::string text;                  ///< of the whole file
  std::vector<std::string> changes;  ///< a line each, "+", "-" or "~" in front, by place
  int unchanged = 0;                 ///< recorded entries that stay as they are
};

/// Rewrites the block "recorded" of a file, sorted, and no other byte of it; an empty text begins a
/// file. Failures that no entry knows become entries of their cell, worker and chip; what was
/// seen further of recorded ones is added to their counts, or takes their place where the rate
/// changed; those that were not seen for long are taken out. Entries that people wrote stay as they
/// are. `known` is what parse_expectations made of `text`, `findings` what the run came to beside
/// it. Throws InputError where the result would not be read again.
ExpectationsUpdate update_expectations(const std::string& text, const std::string& place,
                                       const std::vector<KnownFailure>& known, const RunFacts& run,
                                       const Findings& findings);

}  // namespace mpsprobe
