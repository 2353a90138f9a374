#include "scenarios/operations/torch_errors.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
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

// CUDA's errors of work that the device had accepted: they come with a later call, whichever it is,
// and no context outlives them. Every other code says that a call was refused. The numbers are
// those of cudaError_t (driver_types.h), which are part of CUDA's interface.
constexpr int32_t kDeviceErrors[] = {
    214,  // cudaErrorECCUncorrectable
    220,  // cudaErrorNvlinkUncorrectable
    700,  // cudaErrorIllegalAddress
    702,  // cudaErrorLaunchTimeout
    710,  // cudaErrorAssert
    714,  // cudaErrorHardwareStackError
    715,  // cudaErrorIllegalInstruction
    716,  // cudaErrorMisalignedAddress
    717,  // cudaErrorInvalidAddressSpace
    718,  // cudaErrorInvalidPc
    719,  // cudaErrorLaunchFailure
    721,  // cudaErrorContained
};

#ifdef MPSPROBE_LIBTORCH_BEFORE_2_9
// What later releases throw: none here.
struct AcceleratorError : c10::Error {
  using c10::Error::Error;
  int32_t get_error_code() const { return 0; }
};
#else
using c10::AcceleratorError;
#endif

bool is_of_the_device(const AcceleratorError& error, std::string_view text) {
  // MPS has no codes: what it reports in this way was reported by the GPU.
  return !text.starts_with("CUDA error") ||
         std::find(std::begin(kDeviceErrors), std::end(kDeviceErrors), error.get_error_code()) !=
             std::end(kDeviceErrors);
}

}  // namespace

void rethrow_for_worker() {
  try {
    throw;
  } catch (const c10::OutOfMemoryError& error) {
    throw OutOfMemoryError(error.what_without_backtrace());
  } catch (const AcceleratorError& error) {
    const std::string text = error.what_without_backtrace();
    if (is_of_the_device(error, text)) {
      throw GpuError(text);
    }
    throw std::runtime_error(text);
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
  } catch (const std::runtime_error& error) {
    // Of the simulated device, which has not everything that Apple's has.
    if (std::string_view(error.what()).starts_with("SIMULATED: the simulated")) {
      throw UnsupportedError(error.what());
    }
    throw;
  } catch (const std::bad_alloc&) {
    throw OutOfMemoryError("the host has no memory left");
  }
}

}  // namespace mpsprobe
