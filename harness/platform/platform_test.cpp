// What is another on macOS, with facts that Macs have told elsewhere.
#include <gtest/gtest.h>

#include <map>

#include "harness/platform/device_class.h"
#include "harness/platform/machine_names.h"
#include "harness/process/max_rss.h"

namespace mpsprobe {
namespace {

using Facts = std::map<std::string, std::string>;

MachineNames names_of(const Facts& facts) {
  return macos_names([&facts](const char* name) {
    const auto at = facts.find(name);
    return at == facts.end() ? "" : at->second;
  });
}

// A hosted macos-15 runner in 2026, as logs of public workflows show it: version, build and model
// from a listing of xcdevice, the processor from sysctl.
const Facts kHostedRunner{{"kern.osproductversion", "15.7.9"},
                          {"kern.osversion", "24G830"},
                          {"hw.model", "VirtualMac2,1"},
                          {"machdep.cpu.brand_string", "Apple M1 (Virtual)"}};

TEST(MachineNames, AreWhatSysctlSays) {
  const MachineNames names = names_of(kHostedRunner);
  EXPECT_EQ(names.os, "macOS 15.7.9");
  EXPECT_EQ(names.os_build, "24G830");
  EXPECT_EQ(names.model, "VirtualMac2,1");
  EXPECT_EQ(names.chip, "Apple M1 (Virtual)");
}

TEST(MachineNames, ThatAreNotToldAreEmpty) {
  const MachineNames names = names_of({});
  EXPECT_EQ(names.os, "macOS");
  EXPECT_EQ(names.os_build + names.model + names.chip, "");
}

TEST(DeviceClass, AVirtualMacIsNoChip) {
  // The last: Parallels Desktop on an M5 Pro.
  for (const char* name : {"Apple Paravirtual device", "Apple M1 (Virtual)", "VirtualMac2,1",
                           "Apple M5 Pro (Virtual)"}) {
    EXPECT_TRUE(names_paravirtual(name)) << name;
  }
  for (const char* name : {"Apple M1", "Apple M4 Max", "Mac16,5", "MacBookPro18,3",
                           "simulated Metal device", "NVIDIA H100 80GB HBM3", ""}) {
    EXPECT_FALSE(names_paravirtual(name)) << name;
  }
}

TEST(MaxRss, IsInBytesOnMacosAndInKilobytesElsewhere) {
  // getrusage(2) of macOS: "in bytes"; of Linux: "in kilobytes".
  EXPECT_EQ(max_rss_bytes(52'428'800, System::macos), 50ULL << 20);
  EXPECT_EQ(max_rss_bytes(51'200, System::other), 50ULL << 20);
  // A process that holds more than 4 GiB.
  EXPECT_EQ(max_rss_bytes(6'442'450'944, System::macos), 6ULL << 30);
}

}  // namespace
}  // namespace mpsprobe
