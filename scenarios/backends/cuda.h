#pragma once

#include <memory>

#include "scenarios/backends/backend.h"

namespace mpsprobe {

/// See open_device and report_backends (backend.h).
std::unique_ptr<Device> open_cuda(const Cell& cell);
BackendReport report_cuda();

}  // namespace mpsprobe
