#pragma once

#include <string>

namespace mpsprobe {

/// A library as it really lies in this process, which may be another one than was linked against.
struct LoadedImage {
  std::string path;      ///< links resolved; empty where the system does not tell
  std::string build_id;  ///< ELF: the note NT_GNU_BUILD_ID in hex; empty where there is none
  std::string uuid;      ///< Mach-O: LC_UUID, as crash reports print it; empty elsewhere
  /// "bytes:hash" of the file: its length and an FNV-1a hash of its first and last 64 KiB, where
  /// the headers and the tables lie. Tells builds apart that carry no build id (PyPI's Linux
  /// wheels).
  std::string fingerprint;
};

/// The image that holds `address`. Does not throw; what cannot be found stays empty.
LoadedImage image_of(const void* address);

/// True where the process has loaded a library that exports this (mangled, without a leading
/// underscore) symbol.
bool process_has_symbol(const char* name);

}  // namespace mpsprobe
