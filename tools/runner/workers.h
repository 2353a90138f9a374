#pragma once

#include <string>
#include <vector>

#include "harness/journal/journal.h"
#include "harness/matrix/operation_info.h"

namespace mpsprobe {

/// The workers that --worker names, each asked to describe itself: "NAME=PATH"; with none given,
/// `stock`, the mpsprobe-worker beside this program. Throws InputError for a wrong form or a name
/// given twice. `environment` is what --env adds, since that may decide which library is loaded.
/// MachineError where a worker is missing, does not answer, or is of another version.
std::vector<WorkerInfo> find_workers(const std::vector<std::string>& options,
                                     const std::vector<std::string>& environment = {});

/// All operations that any of the workers has.
Operations operations_of(const std::vector<WorkerInfo>& workers);

/// Why no worker can use the backend, or "" where one can.
std::string why_unavailable(const std::vector<WorkerInfo>& workers, Backend backend);

/// mps, else cuda, else sim, else cpu: the first that a worker can use.
Backend best_backend(const std::vector<WorkerInfo>& workers);

/// Refuses to go on with any LibTorch but the one named by --expect-torch: a version ("2.15.0"),
/// "git:HASH" (its beginning), or "uuid:ID" (build id or UUID). Throws MachineError that says what
/// was found and where; InputError for a wrong form.
void expect_torch(const std::vector<WorkerInfo>& workers, const std::string& expected);

}  // namespace mpsprobe
