#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace mpsprobe {

/// A folder that may have been made by anyone, read without being led out of it: no link is
/// followed in any part of a path, nothing but regular files is opened, and no read waits for a
/// writer. The folder itself may be reached by links: a user named it.
class EvidenceFolder {
 public:
  explicit EvidenceFolder(std::filesystem::path root) : root_(std::move(root)) {}

  struct File {
    std::string bytes;  ///< at most as many as were asked for
    size_t size = 0;    ///< of the whole file
  };

  /// The first `most` bytes of a file; nothing where it is not there, or `relative` is absolute,
  /// has a ".." or a control character in it, or leads over a link or to anything but a regular
  /// file. `why`, where it is not null, is set to the reason, for people.
  std::optional<File> read(const std::string& relative, size_t most,
                           std::string* why = nullptr) const;

  /// Names of the regular files directly in a folder below, sorted; at most `most`. Empty where it
  /// is not there or cannot be read by the rules above.
  std::vector<std::string> files(const std::string& relative, size_t most) const;
  /// The same for the folders in it.
  std::vector<std::string> folders(const std::string& relative, size_t most) const;

  const std::filesystem::path& root() const { return root_; }

 private:
  std::filesystem::path root_;
};

}  // namespace mpsprobe
