#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/folder/descriptor.h"

namespace mpsprobe {

/// The one way into a folder that may have been made by anyone: it is opened once, and each file in
/// it relative to that descriptor, so that nothing in it leads out. No link is followed in any part
/// of a path, nothing but regular files is opened, and no call waits for another process. The
/// folder itself may be reached by links: a user named it.
///
/// Paths are relative, without "..", "." and control characters; others are refused with EXDEV.
/// Not for several threads at once, but for const functions.
class Folder {
 public:
  /// Not open, with errno set, where there is no such folder.
  explicit Folder(std::filesystem::path path);
  /// The same, made before with the folders above it. Throws std::filesystem::filesystem_error.
  static Folder made(const std::filesystem::path& path);

  bool is_open() const { return folder_.is_open(); }
  const std::filesystem::path& path() const { return path_; }

  /// A folder in it; not open, with errno set, where it is not there.
  Folder below(const std::string& relative) const;
  /// The same, made with those above it. Throws std::filesystem::filesystem_error, for a link too.
  Folder make_below(const std::string& relative) const;

  /// A file that is there, with flags as of open(2), or one that O_CREAT makes. Not open, with
  /// errno set (reason_of), where it cannot be had.
  Descriptor open(const std::string& relative, int flags) const;

  struct File {
    std::string bytes;  ///< at most as many as were asked for
    size_t size = 0;    ///< of the whole file
  };
  /// The first `most` bytes of a file. `why`, where it is not null, is set to the reason why there
  /// is none, for people.
  std::optional<File> read(const std::string& relative, size_t most,
                           std::string* why = nullptr) const;

  /// Names of the regular files directly in a folder below, sorted; at most `most`. Empty where it
  /// is not there or cannot be read.
  std::vector<std::string> files(const std::string& relative, size_t most) const;
  /// The same for the folders in it.
  std::vector<std::string> folders(const std::string& relative, size_t most) const;

  /// Gives a file or link of this folder another name in it, over what has that name. False, with
  /// errno set, where it could not be done.
  bool rename(const std::string& from, const std::string& to) const;
  /// Takes away a file or a link, and not what a link leads to. False, with errno set.
  bool remove(const std::string& name) const;
  /// Brings its names to disk, as far as the file system can.
  void sync() const;

 private:
  friend class NewFile;
  Folder(std::filesystem::path path, Descriptor folder);

  std::filesystem::path path_;
  Descriptor folder_;
};

/// Why a file of a folder could not be opened, for people: what Folder sets errno to.
std::string reason_of(int error);

/// A file that is written beside its place, under a name that says which process writes it, and put
/// in its place when it is whole: whoever reads it, and a crash at any moment, sees the old file or
/// the new one. What writers left that were killed is removed by the next one. `folder` must
/// outlive it.
class NewFile {
 public:
  /// Not open, with errno set, where it cannot be made.
  NewFile(const Folder& folder, std::string name);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  /// Removes what was not put in its place.
  ~NewFile();

  bool is_open() const { return file_.is_open(); }
  int fd() const { return file_.get(); }
  /// All of it, or false with errno set.
  bool write(std::string_view bytes);
  /// Brings it to disk.
  bool sync();
  /// Puts it in its place, over what is there: a file, whose permissions it takes, or a link, which
  /// goes. False, with errno set, where it could not be done.
  bool replace();
  /// The same where nothing is there; EEXIST otherwise.
  bool create();
  /// The open file, which is the caller's from now on.
  Descriptor release() { return std::move(file_); }

 private:
  const Folder& folder_;
  std::string name_;
  std::string beside_;
  Descriptor file_;
};

}  // namespace mpsprobe
