#pragma once

#include <string_view>

#include "scenarios/backends/backend.h"

namespace mpsprobe {

/// Some backends have a worker of their own, which lies beside this one: `metal`, without LibTorch,
/// so that the images of its process show that a failure needs no PyTorch; and, where there is no
/// Mac, `mps` on its stand-in, which no other cell is to share a process with. Where the arguments
/// ask for a cell of such a backend, this process becomes that worker, and the function does not
/// return. Where there is no such worker it returns, and the cell is unsupported. Call first of all
/// in main().
void become_other_worker(int argc, char** argv);

/// What the worker of that backend says of it and of its operations; runs the worker. Where it is
/// not there, `absent` is the reason.
BackendReport report_of_other_worker(Backend backend, std::string_view absent);

}  // namespace mpsprobe
