#include <cstddef>
#include <cstdint>

#include "harness/crash_report/ips.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mpsprobe::parse_crash_text({reinterpret_cast<const char*>(data), size});
  return 0;
}
