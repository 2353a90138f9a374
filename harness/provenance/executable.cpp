#include "harness/provenance/executable.h"

#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <system_error>

#ifdef __APPLE__
#include <mach-o/dyld.h>

#include <cstdint>
#endif

namespace mpsprobe {

std::filesystem::path own_executable() {
  std::error_code error;
#ifdef __APPLE__
  uint32_t bytes = 0;
  _NSGetExecutablePath(nullptr, &bytes);
  std::string name(bytes, '\0');
  if (_NSGetExecutablePath(name.data(), &bytes) != 0) return {};
  return std::filesystem::canonical(name.c_str(), error);
#else
  // The kernel has resolved it, also where the file is no more.
  return std::filesystem::read_symlink("/proc/self/exe", error);
#endif
}

std::filesystem::path installation_folder() {
  return own_executable().parent_path().parent_path();
}

std::filesystem::path program_in_path(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::filesystem::path program = std::filesystem::path(folder) / name;
    if (!folder.empty() && access(program.c_str(), X_OK) == 0) return program;
  }
  return {};
}

}  // namespace mpsprobe
