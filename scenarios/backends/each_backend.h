#pragma once

#include <memory>

#include "scenarios/backends/backend.h"

namespace mpsprobe {

// Of each backend what open_device and report_backends say (backend.h). Those of mps are either
// mps.cpp's or, in a worker that is not built for macOS, mps_elsewhere.cpp's.

std::unique_ptr<Device> open_mps(const Cell& cell);
BackendReport report_mps();
std::unique_ptr<Device> open_cuda(const Cell& cell);
BackendReport report_cuda();
std::unique_ptr<Device> open_cpu(const Cell& cell);
BackendReport report_cpu();
std::unique_ptr<Device> open_sim(const Cell& cell);
BackendReport report_sim();
BackendReport report_metal();

}  // namespace mpsprobe
