#include "scenarios/metal/apple_device.h"

#import <Metal/Metal.h>

#include <nlohmann/json.hpp>

#include "scenarios/objective_c/owned.h"
#include "scenarios/worker/workload.h"

#ifdef __APPLE__
#include <sys/sysctl.h>
#else
#include "scenarios/provenance/profile_path.h"
#include "scenarios/sim/face/face.h"
#endif

namespace mpsprobe::metal {

DeviceReport report_device() {
  const Pool pool;
  const auto device = Owned<id<MTLDevice>>::adopt(MTLCreateSystemDefaultDevice());
  if (!device) {
    return {.reason =
                "Metal has no device here: there is no GPU, or none that this process may use"};
  }
  return {.available = true, .device = [[device.get() name] UTF8String]};
}

#ifdef __APPLE__

namespace {

// A framework's version, of which MPSGraph's is the one that changes what a graph does.
std::string version_of(NSString* identifier) {
  NSBundle* const bundle = [NSBundle bundleWithIdentifier:identifier];
  id const version = [bundle objectForInfoDictionaryKey:@"CFBundleVersion"];
  return [version isKindOfClass:[NSString class]] ? [(NSString*)version UTF8String] : "unknown";
}

std::string system_text(const char* name) {
  char value[128] = {};
  size_t bytes = sizeof(value) - 1;
  return sysctlbyname(name, value, &bytes, nullptr, 0) == 0 ? value : "";
}

}  // namespace

bool is_simulated() { return false; }

void prepare_device(const Cell& cell) {
  if (cell.profile != Cell{}.profile) {
    throw UnsupportedError("profile=" + cell.profile +
                           ": a profile is of the simulated device, and this is Apple's");
  }
}

nlohmann::json describe_device() {
  const Pool pool;
  return {
      {"backend", "metal"},
      {"simulated", false},
      {"device", system_text("machdep.cpu.brand_string")},
      // The version that a program is told depends on the SDK that it was linked with.
      {"system", "macOS build " + system_text("kern.osversion")},
      {"frameworks",
       {{"Metal", version_of(@"com.apple.Metal")},
        {"MetalPerformanceShaders",
         version_of(@"com.apple.MetalPerformanceShaders.MetalPerformanceShaders")},
        {"MetalPerformanceShadersGraph", version_of(@"com.apple.MetalPerformanceShadersGraph")}}},
  };
}

#else

bool is_simulated() { return true; }

void prepare_device(const Cell& cell) {
  char error[1024] = {};
  if (mpsprobe_metal_face_start(profile_path(cell.profile).c_str(), error, sizeof(error)) != 0) {
    throw SetupError(error);
  }
}

nlohmann::json describe_device() {
  nlohmann::json description = nlohmann::json::parse(mpsprobe_metal_face_describe());
  description["backend"] = "metal";
  return description;
}

#endif

}  // namespace mpsprobe::metal
