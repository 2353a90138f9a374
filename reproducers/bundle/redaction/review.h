#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace mpsprobe {

/// A place of a finished bundle that a person should look at. Holds none of its text: it goes into
/// logs.
struct LooksPersonal {
  std::string file;  ///< relative to the folder
  size_t line = 0;   ///< from 1
  std::string what;  ///< "a word with @ in it"
  friend bool operator==(const LooksPersonal&, const LooksPersonal&) = default;
};

/// What in the files of a bundle still looks personal: what the patterns find, and, wider than
/// what is taken out, words with "@" in them, paths that begin at the root of a disk, long words
/// that chance made, and long numbers. By file and line, at most 200. Lists of hashes and the
/// list of what was taken out are passed over.
std::vector<LooksPersonal> what_looks_personal(const std::filesystem::path& folder);

/// The same of one line: each kind once.
std::vector<std::string> kinds_that_look_personal(std::string_view line);

}  // namespace mpsprobe
