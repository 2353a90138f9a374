#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "reproducers/bundle/archive.h"

namespace mpsprobe {

/// Where a bundle is put: a folder and an archive of the same name, in `parent`. They are made
/// under another name and renamed when they are whole: a kill at any moment leaves no half of one
/// under its own name. What was left of the unfinished one is removed, by the next call where it
/// was killed.
class BundlePlace {
 public:
  /// Throws InputError where a folder or an archive of that name is there already.
  BundlePlace(const std::filesystem::path& parent, const std::string& name);
  BundlePlace(const BundlePlace&) = delete;
  BundlePlace& operator=(const BundlePlace&) = delete;
  ~BundlePlace();

  /// Paths of files must be relative, without "..". Throws std::filesystem::filesystem_error.
  void write(const std::vector<BundleFile>& files);
  /// Puts both in place.
  void put(std::string_view archive);

  const std::filesystem::path& folder() const { return folder_; }
  const std::filesystem::path& archive() const { return archive_; }

 private:
  std::filesystem::path folder_;
  std::filesystem::path archive_;
  std::filesystem::path unfinished_;
};

}  // namespace mpsprobe
