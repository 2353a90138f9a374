#include "harness/provenance/installed_torch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <vector>

#include "harness/wire/split.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

constexpr std::streamoff kFingerprintBytes = 64 * 1024;

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(64 * 1024, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return text;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find_first_of("\r\n"));
}

// "2.15.0" from the macros of a header, "" where it has none.
std::string version_in_header(const std::string& text) {
  const auto macro = [&text](std::string_view part) -> std::string {
    const std::string wanted = fmt::format("#define TORCH_VERSION_{} ", part);
    const size_t at = text.find(wanted);
    if (at == std::string::npos) return "";
    const std::string rest = text.substr(at + wanted.size(), 16);
    return rest.substr(0, rest.find_first_not_of("0123456789"));
  };
  const std::string major = macro("MAJOR");
  return major.empty() ? "" : fmt::format("{}.{}.{}", major, macro("MINOR"), macro("PATCH"));
}

}  // namespace

InstalledTorch read_installed_torch(const fs::path& library) {
  InstalledTorch torch;
  const fs::path root = library.parent_path().parent_path();
  const std::string python = read_file(root / "version.py");
  torch.version = python_assignment(python, "__version__");
  torch.git_hash = python_assignment(python, "git_version");
  if (torch.version.empty()) torch.version = first_line(read_file(root / "build-version"));
  if (torch.git_hash.empty()) torch.git_hash = first_line(read_file(root / "build-hash"));
  for (const char* header :
       {"torch/headeronly/version.h", "torch/csrc/api/include/torch/version.h"}) {
    if (!torch.version.empty()) break;
    torch.version = version_in_header(read_file(root / "include" / header));
  }
  torch.fingerprint = fingerprint_of(library);
  return torch;
}

std::string fingerprint_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff bytes = file ? static_cast<std::streamoff>(file.tellg()) : -1;
  if (bytes < 0) return {};
  uint64_t hash = 0xcbf29ce484222325;
  std::vector<char> part(static_cast<size_t>(kFingerprintBytes));
  for (const std::streamoff from :
       {std::streamoff{0}, std::max<std::streamoff>(0, bytes - kFingerprintBytes)}) {
    file.clear();
    file.seekg(from);
    file.read(part.data(), kFingerprintBytes);
    for (std::streamsize i = 0; i < file.gcount(); ++i) {
      hash = (hash ^ static_cast<unsigned char>(part[static_cast<size_t>(i)])) * 0x100000001b3;
    }
  }
  return fmt::format("{}:{:016x}", bytes, hash);
}

std::string python_assignment(std::string_view text, std::string_view name) {
  for (const std::string_view line : split(text, '\n')) {
    const size_t equals = line.find('=');
    const bool whole = line.find_first_of(" :=", name.size()) == name.size();
    if (!line.starts_with(name) || !whole || equals == std::string_view::npos) continue;
    const size_t open = line.find_first_of("'\"", equals);
    if (open == std::string_view::npos) return {};
    const size_t close = line.find(line[open], open + 1);
    return close == std::string_view::npos ? std::string()
                                           : std::string(line.substr(open + 1, close - open - 1));
  }
  return {};
}

}  // namespace mpsprobe
