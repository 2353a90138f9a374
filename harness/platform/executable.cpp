#include "harness/platform/executable.h"

#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>

#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif

namespace mpsprobe {

std::filesystem::path executable_path() {
#ifdef __APPLE__
  uint32_t bytes = 0;
  _NSGetExecutablePath(nullptr, &bytes);
  std::string path(bytes, '\0');
  if (_NSGetExecutablePath(path.data(), &bytes) != 0) {
    throw std::runtime_error("the system does not tell where this program lies");
  }
  path.resize(path.find('\0'));
  return std::filesystem::canonical(path);
#else
  return std::filesystem::read_symlink("/proc/self/exe");
#endif
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
