#pragma once

#include <set>
#include <string>

#include "reports/difference/run_facts.h"

namespace mpsprobe {

/// What a run came to that the user named by its folder, its report.json, or a folder of shards:
/// from its journal or those of its shards, merged, or else from the report alone. Throws
/// InputError where there is none, JournalError where one cannot be read.
RunFacts named_facts(const std::string& name);

/// Refuses to compare runs that are unlike, but for `across`, which is meant to be: "machine",
/// "library", "code". Throws InputError. What is simulated is never compared with what is not.
void refuse_unlike(const RunFacts& before, const RunFacts& after,
                   const std::set<std::string>& across);

}  // namespace mpsprobe
