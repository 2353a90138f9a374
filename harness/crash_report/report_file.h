#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "harness/folder/folder.h"

namespace mpsprobe {

/// What tells whether a file is still the one that was read.
struct FileStamp {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t size = 0;
  int64_t changed_ns = 0;  ///< of content or rights
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

/// Of a regular file that is not larger than any report; nothing for a link, a pipe, a folder, what
/// is larger, or what is gone.
std::optional<FileStamp> stamp_of(const std::filesystem::path& file);

/// The first `most` bytes of a regular file, or all where there are fewer. Follows no link and
/// never blocks, whatever the name turned into since it was listed. Nothing where it cannot be
/// read.
std::optional<std::string> read_regular_file(const std::filesystem::path& file, size_t most);

/// Writes `content` as `folder`/`stem`.`extension`, or with "-2", "-3" ... after the stem where
/// that name is taken by other content; a file of the same content is used as it is. Gives the
/// file's name, or "" where it could not be written.
std::string keep_file(const Folder& folder, const std::string& stem, const std::string& extension,
                      const std::string& content);

/// At most 80 bytes of `text` that are safe in a file's name: letters, digits, '.', '_' and '-';
/// others become '-', and it never begins with a dot.
std::string safe_file_name(const std::string& text);

}  // namespace mpsprobe
