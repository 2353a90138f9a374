#include "scenarios/provenance/provenance.h"

#include <ATen/Version.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/input/json_text.h"
#include "harness/provenance/installed_torch.h"
#include "scenarios/provenance/image.h"
#include "scenarios/provenance/symbol_probes.h"
#include "scenarios/worker/workload.h"

#if __has_include(<torch/headeronly/version.h>)
#include <torch/headeronly/version.h>
#else
#include <torch/csrc/api/include/torch/version.h>
#endif

namespace mpsprobe {
namespace {

// at::mps::getStreamFromPool(), which LibTorch has since 2.15.
constexpr const char* kPoolSymbol = "_ZN2at3mps17getStreamFromPoolEv";

std::string compiled_version() {
  return fmt::format("{}.{}.{}", TORCH_VERSION_MAJOR, TORCH_VERSION_MINOR, TORCH_VERSION_PATCH);
}

}  // namespace

nlohmann::json torch_provenance() {
  const std::string build = at::show_config();
  const LoadedImage image = image_of(reinterpret_cast<const void*>(&at::show_config));
  const InstalledTorch beside = read_installed_torch(image.path);
  std::string version = build_setting(build, "TORCH_VERSION");
  std::string hash = build_setting(build, "COMMIT_SHA");
  // version.py says more ("2.15.0+cu132", "2.9.1a0+git1234") but is another file, which may belong
  // to another build: it is believed where it does not contradict the library.
  if (version.empty() || (beside.version.starts_with(version) && !beside.version.empty())) {
    version = beside.version;
  }
  if (hash.empty()) {
    hash = beside.git_hash;
  }
  if (!version.empty() && !same_release(version, compiled_version())) {
    throw SetupError(
        fmt::format("{}: the process loaded LibTorch {}, and this worker was compiled for {}. "
                    "Build the worker for that LibTorch (MPSPROBE_TORCH), or take what redirects "
                    "the loader out of the environment",
                    image.path, version, compiled_version()));
  }
  // The same release with its known bugs mended, the control of docs/mps.md.
  if (!image_named("libmpsprobe_own_mps-fixed").path.empty()) version += ".fixed";
  return {
      {"version", valid_utf8(version)},
      {"git_hash", valid_utf8(hash)},
      {"path", valid_utf8(image.path)},
      {"built_against", kTorchBuiltAgainst},
      {"build_id", image.build_id},
      {"uuid", image.uuid},
      {"fingerprint", image.fingerprint},
      {"compiled_version", compiled_version()},
      {"has_mps_stream_pool", process_has_symbol(kPoolSymbol)},
      {"cuda", valid_utf8(build_setting(build, "CUDA_VERSION"))},
      {"build", valid_utf8(build)},
  };
}

std::string build_setting(std::string_view text, std::string_view key) {
  // A setting begins after a comma or after the colon of the list; "CUDA_VERSION" is not to be
  // found in "MY_CUDA_VERSION".
  const std::string wanted = fmt::format(" {}=", key);
  const size_t at = text.find(wanted);
  if (at == std::string_view::npos) {
    return {};
  }
  const std::string_view rest = text.substr(at + wanted.size());
  return std::string(rest.substr(0, rest.find_first_of(",\n")));
}

bool same_release(std::string_view loaded, std::string_view compiled) {
  const auto release = [](std::string_view version) {
    const size_t first = version.find('.');
    const size_t second = first == std::string_view::npos
                              ? first
                              : version.find_first_not_of("0123456789", first + 1);
    return version.substr(0, second);
  };
  return release(loaded) == release(compiled);
}

}  // namespace mpsprobe
