#include "harness/platform/machine_names.h"

#include <cstdlib>
#include <string>

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

}  // namespace

MachineNames macos_names(const SystemText& sysctl) {
  const std::string build = sysctl("kern.osversion");
  const std::string version = true_version(sysctl("kern.osproductversion"), build);
  return {version.empty() ? "macOS" : "macOS " + version, build, sysctl("hw.model"),
          sysctl("machdep.cpu.brand_string")};
}

}  // namespace mpsprobe
