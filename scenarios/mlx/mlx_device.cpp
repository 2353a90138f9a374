#include "scenarios/mlx/mlx_device.h"

#include <fmt/format.h>
#include <mlx/backend/metal/metal.h>
#include <mlx/version.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "harness/input/json_text.h"
#include "harness/wire/backend.h"
#include "scenarios/provenance/image.h"
#include "scenarios/worker/workload.h"

namespace mpsprobe {
namespace {

namespace mx = ::mlx::core;

std::string compiled_version() {
  return fmt::format("{}.{}.{}", MLX_VERSION_MAJOR, MLX_VERSION_MINOR, MLX_VERSION_PATCH);
}

// As MLX reads it: a number, 1 where there is none.
constexpr const char* kTf32 = "MLX_ENABLE_TF32";

std::string name_of_gpu() {
#if MLX_VERSION_NUMERIC >= 31000
  const auto& facts = mx::device_info(mx::Device(mx::Device::gpu));
#else
  if (!mx::metal::is_available()) return "GPU";  // of others the old releases say nothing
  const auto& facts = mx::metal::device_info();
#endif
  const auto at = facts.find("device_name");
  const auto* const name = at == facts.end() ? nullptr : std::get_if<std::string>(&at->second);
  return name == nullptr ? "GPU" : *name;
}

}  // namespace

void begin_mlx() {
  setenv(kTf32, "0", 0);
}

bool mlx_has_tf32(mx::Device device) {
  const char* const set = std::getenv(kTf32);
  return device.type == mx::Device::gpu && (set == nullptr || std::atoi(set) != 0);
}

mx::Device mlx_device(DeviceUse use) {
  const mx::Device gpu(mx::Device::gpu);
  return use != DeviceUse::cpu && mx::is_available(gpu) ? gpu : mx::Device(mx::Device::cpu);
}

std::string mlx_device_name(DeviceUse use) {
  const mx::Device device = mlx_device(use);
  if (device.type == mx::Device::cpu) return "CPU";
  return fmt::format("{} ({}{})", name_of_gpu(), mx::metal::is_available() ? "Metal" : "CUDA",
                     mlx_has_tf32(device) ? ", TF32" : "");
}

nlohmann::json describe_mlx_device(DeviceUse use) {
  return {
      {"backend", name_of(Backend::mlx)}, {"simulated", false}, {"device", mlx_device_name(use)}};
}

nlohmann::json mlx_provenance() {
  const LoadedImage image = image_of(reinterpret_cast<const void*>(&mx::version));
  const std::string version = mx::version();
  // A development build says more: "0.32.5.dev20261101+abc".
  const bool same = version == compiled_version() || version.starts_with(compiled_version() + ".");
  if (!same) {
    throw SetupError(
        fmt::format("{}: the process loaded MLX {}, and this worker was compiled for {}. Build a "
                    "worker for that MLX (tools/build-worker mlx==VERSION), or take what redirects "
                    "the loader out of the environment",
                    image.path, version, compiled_version()));
  }
  return {
      {"version", valid_utf8(version)},   {"path", valid_utf8(image.path)},
      {"build_id", image.build_id},       {"uuid", image.uuid},
      {"fingerprint", image.fingerprint}, {"compiled_version", compiled_version()},
  };
}

}  // namespace mpsprobe
