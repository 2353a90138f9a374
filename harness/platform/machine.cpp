#include "harness/platform/machine.h"

#include <sys/utsname.h>

#include <cstdlib>
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

constexpr int kFirstNamedAfterYears = 25;  // macOS 26: the build's number plus one

/// To a program that was linked with an older SDK macOS 26 says that it is 16, and no system was.
/// The build is true for all: "25A354" is of macOS 26.
std::string true_version(std::string version, const std::string& build) {
  const int train = std::atoi(build.c_str());
  if (train >= kFirstNamedAfterYears && !version.empty()) {
    version.replace(0, version.find('.'), std::to_string(train + 1));
  }
  return version;
}

#ifdef __APPLE__

std::string system_text(const char* name) {
  char value[256] = {};
  size_t length = sizeof(value) - 1;
  return sysctlbyname(name, value, &length, nullptr, 0) == 0 ? value : "";
}
MachineNames machine_names() {
  return macos_names(system_text);
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
MachineNames machine_names() {
  return {value_in("/etc/os-release", "PRETTY_NAME", '='), "", "",
          value_in("/proc/cpuinfo", "model name", ':')};
}

#endif

}  // namespace

MachineNames macos_names(const SystemText& sysctl) {
  const std::string build = sysctl("kern.osversion");
  const std::string version = true_version(sysctl("kern.osproductversion"), build);
  return {version.empty() ? "macOS" : "macOS " + version, build, sysctl("hw.model"),
          sysctl("machdep.cpu.brand_string")};
}

nlohmann::json machine_facts() {
  utsname system{};
  uname(&system);
  const MachineNames names = machine_names();
  return {{"os", names.os},
          {"os_build", names.os_build},
          {"kernel", std::string(system.sysname) + " " + system.release},
          {"model", names.model},
          {"chip", names.chip},
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
