#include "scenarios/operations/torch_errors.h"

#include <c10/util/Exception.h>

#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include "scenarios/worker/workload.h"

namespace mpsprobe {
namespace {

bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

void rethrow_for_worker() {
  try {
    throw;
  } catch (const c10::OutOfMemoryError& error) {
    throw OutOfMemoryError(error.what_without_backtrace());
  } catch (const c10::AcceleratorError& error) {
    throw GpuError(error.what_without_backtrace());
  } catch (const c10::Error& error) {
    const std::string text = error.what_without_backtrace();
    // Several releases throw these as plain errors: only the text tells.
    if (holds(text, "MPS backend out of memory")) {
      throw OutOfMemoryError(text);
    }
    if (holds(text, "MPS backend is supported on") ||
        holds(text, "not linked with support for mps")) {
      throw UnsupportedError(text);
    }
    throw std::runtime_error(text);
  } catch (const std::bad_alloc&) {
    throw OutOfMemoryError("the host has no memory left");
  }
}

}  // namespace mpsprobe
