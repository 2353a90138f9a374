#pragma once

#include <memory>

#include "scenarios/worker/workload.h"

namespace mpsprobe {

/// The worker program of mpsprobe-worker: the operation table on LibTorch's backends. Its `begin`
/// limits LibTorch's own thread pools to the calling thread, so that the threads of a cell are the
/// only ones. Call once, on the main thread, before any other use of LibTorch.
std::unique_ptr<WorkerProgram> make_torch_program();

}  // namespace mpsprobe
