#include "harness/wire/child_crashes.h"

#include <cstdlib>

namespace mpsprobe {

std::string child_crash_folder(std::string_view mark) {
  const char* const folder = std::getenv("TMPDIR");
  const bool named = folder != nullptr && *folder == '/';
  return std::string(named ? folder : "/tmp") + "/mpsprobe-crashes-" + std::string(mark);
}

}  // namespace mpsprobe
