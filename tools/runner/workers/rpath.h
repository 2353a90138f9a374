#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace mpsprobe {

/// Where a program tells the loader to look for its libraries.
struct Rpath {
  std::vector<std::string> folders;  ///< as written: "$ORIGIN/../lib", "@loader_path/../lib"
  /// ELF's DT_RPATH alone: it comes before LD_LIBRARY_PATH, everything else after it.
  bool before_environment = false;
};

/// Reads it from a 64-bit ELF or Mach-O file, of whatever machine. Empty for anything else: a
/// script, a damaged or a universal file. Never throws for what the file holds.
Rpath read_rpath(const std::filesystem::path& program);

}  // namespace mpsprobe
