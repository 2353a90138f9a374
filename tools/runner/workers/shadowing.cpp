#include "tools/runner/workers/shadowing.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/input/json_shape.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

#ifdef __APPLE__
constexpr const char* kLibraryPath = "DYLD_LIBRARY_PATH";
constexpr const char* kPreload = "DYLD_INSERT_LIBRARIES";
#else
constexpr const char* kLibraryPath = "LD_LIBRARY_PATH";
constexpr const char* kPreload = "LD_PRELOAD";
#endif

}  // namespace

std::optional<Shadowing> find_shadowing(const nlohmann::json& torch) {
  const std::string loaded = text_at(torch, "path");
  std::error_code error;
  const fs::path built = fs::canonical(text_at(torch, "built_against"), error);
  if (loaded.empty() || error || fs::weakly_canonical(loaded, error) == built) return std::nullopt;
  Shadowing shadowing{loaded, built.string(), read_installed_torch(built), false};
  const std::string fingerprint = fingerprint_of(loaded);
  shadowing.same_bytes = !fingerprint.empty() && fingerprint == shadowing.files.fingerprint;
  return shadowing;
}

std::string in_words(const Shadowing& shadowing) {
  const std::string& version = shadowing.files.version;
  return fmt::format(
      "{} is loaded in place of {} (LibTorch {}), which the worker was built against{}",
      shadowing.loaded, shadowing.built_against, version.empty() ? "unknown" : version,
      shadowing.same_bytes ? "; both files seem to be the same" : "");
}

std::string remedy_for(const Shadowing& shadowing) {
  return fmt::format(
      "take {} out of {} or {}, or build a worker against it (MPSPROBE_TORCH) and name that with "
      "--worker",
      fs::path(shadowing.loaded).parent_path().string(), kLibraryPath, kPreload);
}

std::string redirected_loader(const std::vector<std::string>& environment) {
  for (const char* name : {kPreload, kLibraryPath}) {
    for (const std::string& entry : environment) {
      if (!entry.starts_with(std::string(name) + "=") || entry.ends_with('=')) continue;
      return fmt::format(
          "Perhaps because {} leads to another library than the worker was built against: take "
          "that out of it",
          entry);
    }
  }
  return "";
}

}  // namespace mpsprobe
