#pragma once

#include <string>
#include <vector>

#include "harness/record/process_record.h"

namespace mpsprobe {

/// A command that looks for the same failure, and what of the evidence chose it.
struct CellsToRun {
  std::string command;  ///< "mpsprobe run --op linear --threads 1-8 --backend mps"
  std::string why;      ///< "at::native::linear"; empty: nothing was known, it is the first look
};

/// What to run to look for the failure that `process` was judged to have died of: the backend and
/// the operation that the titles and the frames of the thread that failed name, and the
/// built-in matrices of known issues whose words they hold. Where they name none, the matrix
/// `affected` alone. Pure; throws only for lack of memory.
std::vector<CellsToRun> cells_to_run(const ProcessRecord& process, const Judgement& judgement);

}  // namespace mpsprobe
