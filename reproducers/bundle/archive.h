#pragma once

#include <cstddef>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace mpsprobe {

/// A file of a bundle: a path with '/' between its parts, relative to the bundle's folder, and its
/// bytes.
struct BundleFile {
  std::string path;
  std::string bytes;
  friend bool operator==(const BundleFile&, const BundleFile&) = default;
};

/// An archive could not be made. The message says which and why.
class ArchiveError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// SHA-256 in lower-case hex. Source of the algorithm: FIPS 180-4, as libarchive's manifests have
/// it. Throws ArchiveError where libarchive was built without it.
std::string sha256(std::string_view bytes);

/// A ZIP archive of these files in the order of their paths, all in the folder `top`: what Finder
/// and every other desktop opens with a double click. The same files give the same bytes, whoever
/// packs them, when and where: no time, no owner, fixed rights. (Another release of the compression
/// library may compress otherwise.) Throws ArchiveError.
std::string zip_archive(std::string_view top, std::vector<BundleFile> files);

}  // namespace mpsprobe
