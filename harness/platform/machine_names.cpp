#include "harness/platform/machine_names.h"

namespace mpsprobe {

MachineNames macos_names(const SystemText& sysctl) {
  const std::string version = sysctl("kern.osproductversion");
  return {version.empty() ? "macOS" : "macOS " + version, sysctl("kern.osversion"),
          sysctl("hw.model"), sysctl("machdep.cpu.brand_string")};
}

}  // namespace mpsprobe
