#include "scenarios/provenance/executable.h"

#include <system_error>

#ifdef __APPLE__
#include <mach-o/dyld.h>

#include <cstdint>
#include <string>
#endif

namespace mpsprobe {

std::filesystem::path own_executable() {
  std::error_code error;
#ifdef __APPLE__
  uint32_t bytes = 0;
  _NSGetExecutablePath(nullptr, &bytes);
  std::string name(bytes, '\0');
  if (_NSGetExecutablePath(name.data(), &bytes) != 0) {
    return {};
  }
  const std::filesystem::path executable =
      std::filesystem::canonical(std::filesystem::path(name.c_str()), error);
#else
  const std::filesystem::path executable = std::filesystem::canonical("/proc/self/exe", error);
#endif
  return error ? std::filesystem::path() : executable;
}

std::filesystem::path installation_folder() {
  return own_executable().parent_path().parent_path();
}

}  // namespace mpsprobe
