#include <cstddef>
#include <cstdint>

#include "harness/crash_report/ips.h"

// Whatever a file holds, it is read or refused: no crash, no hang, no surprise in memory.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view content(reinterpret_cast<const char*>(data), size);
  mpsprobe::parse_report_header(content);
  mpsprobe::parse_crash_report(content);
  return 0;
}
