#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "reports/expectations/judge_expectations.h"

namespace mpsprobe {

/// Which cells an entry is of, and of which worker: for a list. Printable. Pure.
std::string where_words(const KnownWhere& where);

/// How an entry stands: "MORE OFTEN than known; since 2026-01-31: 4/40". Printable. Pure.
std::string standing_in_words(const JudgedEntry& judged);

/// Which failure an entry is of. Printable. Pure.
std::string what_of(const KnownFailure& known);

/// What a run came to beside what is known, for a terminal: first what is not known, then what
/// changed, then what is as it was. Printable. Pure.
std::string findings_text(const std::vector<KnownFailure>& known, const RunFacts& run,
                          const Findings& findings);

/// The same for programs: "mpsprobe_findings": 1. Pure.
nlohmann::ordered_json findings_json(const std::vector<KnownFailure>& known, const RunFacts& run,
                                     const Findings& findings);

}  // namespace mpsprobe
