#pragma once

#include <cstdint>

#include "harness/platform/system.h"

namespace mpsprobe {

/// rusage's ru_maxrss in bytes: macOS counts bytes, other systems kilobytes.
constexpr uint64_t max_rss_bytes(int64_t ru_maxrss, System system = kSystem) {
  return static_cast<uint64_t>(ru_maxrss) * (system == System::macos ? 1 : 1024);
}

}  // namespace mpsprobe
