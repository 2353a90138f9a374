#include "harness/platform/machine.h"

#include <sys/utsname.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "harness/platform/memory.h"

#ifdef __APPLE__
#include <sys/sysctl.h>
#endif

namespace mpsprobe {
namespace {

#ifdef __APPLE__

std::string system_text(const char* name) {
  char value[256] = {};
  size_t length = sizeof(value) - 1;
  return sysctlbyname(name, value, &length, nullptr, 0) == 0 ? value : "";
}
std::string os_name() {
  return "macOS " + system_text("kern.osproductversion");
}
std::string os_build() {
  return system_text("kern.osversion");
}
std::string model() {
  return system_text("hw.model");
}
std::string chip() {
  return system_text("machdep.cpu.brand_string");
}

#else

/// The value of the first line "key<separator>value" of a file, without quotes.
std::string value_in(const char* file, const std::string& key, char separator) {
  std::ifstream stream(file);
  std::string line;
  while (std::getline(stream, line)) {
    const size_t at = line.find(separator);
    if (at == std::string::npos || line.compare(0, key.size(), key) != 0) continue;
    std::string value = line.substr(at + 1);
    value.erase(0, value.find_first_not_of(" \t\""));
    value.erase(value.find_last_not_of(" \t\"") + 1);
    return value;
  }
  return "";
}
std::string os_name() {
  return value_in("/etc/os-release", "PRETTY_NAME", '=');
}
std::string os_build() {
  return "";
}
std::string model() {
  return "";
}
std::string chip() {
  return value_in("/proc/cpuinfo", "model name", ':');
}

#endif

}  // namespace

nlohmann::json machine_facts() {
  utsname system{};
  uname(&system);
  return {{"os", os_name()},
          {"os_build", os_build()},
          {"kernel", std::string(system.sysname) + " " + system.release},
          {"model", model()},
          {"chip", chip()},
          {"architecture", system.machine},
          {"cores", std::thread::hardware_concurrency()},
          {"memory_bytes", physical_memory_bytes()},
#ifdef __clang__
          {"compiler", "clang " __clang_version__}
#else
          {"compiler", "gcc " __VERSION__}
#endif
  };
}

}  // namespace mpsprobe
