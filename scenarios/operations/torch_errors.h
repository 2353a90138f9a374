#pragma once

#include <utility>

namespace mpsprobe {

/// Called in a catch block: throws what the current exception means to a worker. LibTorch's and the
/// standard library's out-of-memory errors become OutOfMemoryError, an error that the device
/// reported for accepted work becomes GpuError, "this machine or library has no MPS" becomes
/// UnsupportedError, any other c10::Error a std::runtime_error with its text and without its C++
/// stack; everything else stays what it is.
[[noreturn]] void rethrow_for_worker();

/// Runs `body`, with its exceptions changed by rethrow_for_worker.
template <typename Body>
decltype(auto) with_worker_errors(Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (...) {
    rethrow_for_worker();
  }
}

}  // namespace mpsprobe
