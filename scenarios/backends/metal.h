#pragma once

#include "scenarios/backends/backend.h"

namespace mpsprobe {

/// The backend metal has a worker of its own, without LibTorch, which lies beside this one: that a
/// failure needs no PyTorch is to be seen from the images that its process loaded. Where the
/// arguments ask for a cell of that backend, this process becomes that worker, and the function
/// does not return. Where there is no such worker it returns, and the cell is unsupported. Call
/// first of all in main().
void become_metal_worker(int argc, char** argv);

/// What that worker says of its backend and operations; runs it.
BackendReport report_metal();

}  // namespace mpsprobe
