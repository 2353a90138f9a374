#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "reports/analysis/analysis.h"
#include "reproducers/bundle/bundle_record.h"
#include "reproducers/reverify/conclusion.h"

namespace mpsprobe {

/// How two builds of the library stand to each other. `unknown` where one of them did not say
/// enough: it is then never taken for the bundle's.
enum class BuildMatch : uint8_t { same, other, unknown };

/// The build of the bundle against the one that an arm loaded: by build id where both have one;
/// else another version or git hash is another build, and nothing proves that two are the same.
/// Cells of the backend metal run on Apple's frameworks alone, which come with the system: theirs
/// is the build of the system, `os_before` and `os_now`.
BuildMatch match_builds(const BundleBuild& before, const BundleBuild& now, Backend backend,
                        const BundleMachine& os_before, const BundleMachine& os_now);

/// What BundleRecord::machine would be for a campaign's machine facts.
BundleMachine machine_of(const nlohmann::json& facts);

/// The distinct cells of a bundle, in its order: what is to be run again.
std::vector<Cell> cells_to_run(const BundleRecord& record);

/// Whether a title of today's run would stand in a bundle as `in_bundle`, without personal data.
using SameTitle = std::function<bool(const std::string& today, const std::string& in_bundle)>;

/// What a run that verifies found, cell by cell, in the order of the bundle; one entry for each
/// distinct cell. Of a cell that failed on several builds, the one that was run again counts.
/// Pure where `same_title` is; empty, titles are compared as they are.
std::vector<CellBeforeAndNow> before_and_now(const BundleRecord& record, const Analysis& analysis,
                                             const SameTitle& same_title = {});

/// Whether a worker, by its answer to `describe`, loads the build of a cell that failed in the
/// bundle. `machine` is what it runs on.
bool loads_the_bundles_build(const BundleRecord& record, const nlohmann::json& describe,
                             const BundleMachine& machine);

}  // namespace mpsprobe
