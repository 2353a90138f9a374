#pragma once

#include <memory>

#include "scenarios/worker/workload.h"

namespace mpsprobe::metal {

/// The worker program of mpsprobe-metal-worker: the backend metal and nothing else. Call once, on
/// the main thread.
std::unique_ptr<WorkerProgram> make_metal_program();

}  // namespace mpsprobe::metal
