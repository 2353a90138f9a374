#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/journal/journal.h"
#include "harness/matrix/operation_info.h"

namespace mpsprobe {

/// A worker as --worker names it, not asked yet.
struct NamedWorker {
  std::string name;
  std::string path;  ///< absolute
};

/// The workers that --worker names: "NAME=PATH"; with none given, those beside this program:
/// `stock`, the mpsprobe-worker, and `mlx-VERSION`, the mpsprobe-mlx-worker of the newest release
/// of MLX and of the one in which a race is known; where there is no `stock`, `sim`, the simulated
/// device without LibTorch. Throws InputError for a wrong form or a name
/// given twice.
std::vector<NamedWorker> name_workers(const std::vector<std::string>& options,
                                      const std::set<Backend>& wanted = {});

/// A module of somebody's own may take minutes to import: as long as a process may by default.
constexpr double kDescribeSeconds = TrialLimits().timeout_seconds;

/// Asks a worker what it is. `environment` is what --env adds, since that may decide which library
/// is loaded. Throws MachineError where the worker is missing, does not answer within `seconds`, or
/// is of another version; where another LibTorch than its own stands in the loader's way, the
/// message names both. Where a build of it with ThreadSanitizer lies beside it (sanitized_build()),
/// the answer names the axis `sanitizer` as well.
WorkerInfo ask_worker(const NamedWorker& worker, const std::vector<std::string>& environment,
                      double seconds = kDescribeSeconds);

/// name_workers, each asked. `wanted` are the backends that cells are of; empty: any. Where
/// --worker names none, only workers that have one of them are asked; and where that is the worker
/// of LibTorch and it is not built, it is built first if this program was started by tools/mpsprobe
/// (MPSPROBE_BUILD_WORKER says how), which can take minutes. Each is given `seconds`.
std::vector<WorkerInfo> find_workers(const std::vector<std::string>& options,
                                     const std::vector<std::string>& environment = {},
                                     const std::set<Backend>& wanted = {},
                                     double seconds = kDescribeSeconds);

/// All operations that any of the workers has.
Operations operations_of(const std::vector<WorkerInfo>& workers);

/// Why there is no worker of the backend, and what it would be here.
std::string why_no_worker(Backend backend);

/// The worker of the self-tests alone, where no worker of LibTorch lies beside the program, which
/// has them as well.
std::optional<NamedWorker> selftest_worker();

/// The Python worker beside this program, else in PATH, as pip puts both into an environment's bin.
/// Throws InputError where there is none.
std::string python_worker();

/// The interpreter of whole scripts: MPSPROBE_PYTHON, as for functions; where pip installed the
/// Python worker, the one that it is for; else python3, the first in PATH.
std::string python_for_scripts();

/// The worker of commands, which lies beside this program. Throws InputError where it does not.
std::string command_worker();

/// What the worker says of a backend, the entry of its `backends`; null where it names none such.
nlohmann::json backend_told(const WorkerInfo& worker, Backend backend);

/// Why no worker can use the backend, or "" where one can.
std::string why_unavailable(const std::vector<WorkerInfo>& workers, Backend backend);

/// The first of kDefaultBackends that a worker can use: all of them are real. Else cpu, where the
/// workers have nothing else; or nothing.
std::optional<Backend> best_backend(const std::vector<WorkerInfo>& workers);

/// Whether the worker loads the LibTorch that --expect-torch names: a version ("2.15.0"),
/// "git:HASH" (its beginning), "uuid:ID" (build id or UUID) or "path:FOLDER". Empty where it does;
/// otherwise what it loads, from where, and what that shadows. A version that two different builds
/// have, one of which shadows the other, is no match. Throws InputError for a wrong form.
std::string torch_mismatch(const WorkerInfo& worker, const std::string& expected);

/// Refuses to go on with any LibTorch but the one named by --expect-torch: MachineError with what
/// torch_mismatch says.
void expect_torch(const std::vector<WorkerInfo>& workers, const std::string& expected);

/// Which copy of LibTorch stands in the way of the one that the worker was built against, in words;
/// empty where none does.
std::string shadowing_of(const WorkerInfo& worker);

/// "there", "not there", or "not told" by a worker that does not answer such questions.
std::string probe_answer(const WorkerInfo& worker, const std::string& symbol);

}  // namespace mpsprobe
