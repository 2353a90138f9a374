#include "scenarios/provenance/profile_path.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "harness/provenance/executable.h"
#include "harness/wire/ascii.h"
#include "scenarios/worker/workload.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

fs::path profiles_folder() {
  if (const char* chosen = std::getenv("MPSPROBE_PROFILES"); chosen != nullptr && *chosen) {
    return chosen;
  }
  return installation_folder() / "share" / "mpsprobe" / "profiles";
}

std::string profiles_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".json") {
      names.push_back(at->path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string profile_path(const std::string& name) {
  const fs::path folder = profiles_folder();
  // A name, not a path: a cell's text must mean the same on every machine.
  const bool is_name = !name.empty() && name.front() != '.' && ascii::all_plain(name);
  fs::path path = folder / (name + ".json");
  std::error_code error;
  if (!is_name || !fs::is_regular_file(path, error)) {
    throw SetupError(fmt::format(
        "profile={}: no such profile in {}. There are: {}. MPSPROBE_PROFILES names another folder",
        name, folder.string(), profiles_in(folder)));
  }
  return path.string();
}

}  // namespace mpsprobe
