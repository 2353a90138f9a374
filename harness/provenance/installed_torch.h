#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace mpsprobe {

/// What the files of a LibTorch say of it, without loading it. Needs no LibTorch itself, so that
/// the runner reads it, too. What the files do not tell is empty.
struct InstalledTorch {
  std::string version;      ///< "2.15.0+cu132"
  std::string git_hash;     ///< of PyTorch's repository, 40 hex digits
  std::string fingerprint;  ///< fingerprint_of its libtorch_cpu
};

/// Of the LibTorch whose libtorch_cpu is `library`: in the folder above lib/, a wheel has
/// version.py, a zip build-version and build-hash; a source build at least its headers. Never
/// throws for what the files hold.
InstalledTorch read_installed_torch(const std::filesystem::path& library);

/// "bytes:hash" of a file: its length and an FNV-1a hash of its first and last 64 KiB, where the
/// headers and the tables lie. Tells builds apart that carry no build id (PyPI's Linux wheels).
/// Empty where the file cannot be read.
std::string fingerprint_of(const std::filesystem::path& file);

/// The value in a line like `git_version = 'abc'` or `__version__ = "2.15.0"` of a version.py;
/// empty where there is none.
std::string python_assignment(std::string_view text, std::string_view name);

}  // namespace mpsprobe
