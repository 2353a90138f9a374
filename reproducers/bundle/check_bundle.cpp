#include <fmt/format.h>

#include <map>
#include <sstream>
#include <string>

#include "harness/input/input_error.h"
#include "harness/input/input_file.h"
#include "reports/words/safe_text.h"
#include "reproducers/bundle/archive.h"
#include "reproducers/bundle/bundle.h"
#include "reproducers/bundle/bundle_record.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

constexpr const char* kManifest = "MANIFEST.sha256";
constexpr size_t kMostManifest = size_t{4} << 20;
constexpr size_t kMostEntries = 20'000;
constexpr size_t kDigits = 64;
const char* const kAgain = "Get the bundle again from whoever made it, and unpack it anew";

[[noreturn]] void refuse(const fs::path& file, const std::string& problem) {
  throw InputError(printable(file.string()), problem, kAgain);
}

void refuse_links(const fs::path& folder) {
  std::error_code error;
  size_t entries = 0;
  fs::recursive_directory_iterator at(folder, error);
  for (const fs::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
    if (++entries > kMostEntries) {
      refuse(folder, fmt::format("holds more than {} files", kMostEntries));
    }
    const fs::file_type type = at->symlink_status(error).type();
    if (type == fs::file_type::symlink) {
      refuse(at->path(), "is a link, and a bundle has none: it would lead out of the bundle");
    }
    if (type != fs::file_type::regular && type != fs::file_type::directory) {
      refuse(at->path(), "is neither a file nor a folder");
    }
  }
  if (error) refuse(folder, "cannot be read: " + error.message());
}

std::string read_file(const fs::path& file, size_t most) {
  std::error_code error;
  if (fs::symlink_status(file, error).type() != fs::file_type::regular) {
    refuse(file, "is not there, and belongs to the bundle");
  }
  return read_input_file(file, most, kAgain);
}

/// The path of a manifest's line, which stays in the folder.
bool leads_nowhere_else(const std::string& name) {
  const fs::path path(name);
  return !name.empty() && path.is_relative() && path == path.lexically_normal() &&
         *path.begin() != ".." && path.has_filename();
}

/// Hash by path.
std::map<std::string, std::string> manifest_in(const fs::path& file) {
  std::istringstream lines(read_file(file, kMostManifest));
  std::map<std::string, std::string> hashes;
  size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.starts_with('#')) continue;
    const std::string name = line.size() > kDigits + 2 ? line.substr(kDigits + 2) : "";
    const bool hash = line.find_first_not_of("0123456789abcdef") == kDigits &&
                      line.compare(kDigits, 2, "  ") == 0;
    if (!hash || !leads_nowhere_else(name)) {
      refuse(file, fmt::format("line {} is not a hash and a file of the bundle: {}", number,
                               shortened(printable(line), 160)));
    }
    if (!hashes.emplace(name, line.substr(0, kDigits)).second) {
      refuse(file, "names " + printable(name) + " twice");
    }
  }
  return hashes;
}

}  // namespace

void check_bundle(const fs::path& folder) {
  refuse_links(folder);
  const fs::path file = folder / kManifest;
  const std::map<std::string, std::string> hashes = manifest_in(file);
  if (!hashes.contains(kBundleRecordFile)) {
    refuse(file, fmt::format("does not name {}", kBundleRecordFile));
  }
  size_t left = kMostBundle;
  for (const auto& [name, hash] : hashes) {
    const std::string bytes = read_file(folder / name, left);
    left -= bytes.size();
    if (sha256(bytes) == hash) continue;
    refuse(folder / name,
           fmt::format("is not what was packed: {} has another hash of it", kManifest));
  }
}

}  // namespace mpsprobe
