#pragma once

#include <memory>

#include "scenarios/worker/workload.h"

namespace mpsprobe {

/// The worker program of mpsprobe-mlx-worker: the backend mlx and nothing else. It loads no
/// LibTorch. Call once, on the main thread.
std::unique_ptr<WorkerProgram> make_mlx_program();

}  // namespace mpsprobe
