#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mpsprobe {

/// An image file, read piece by piece and never mapped: a file that is cut short while it is looked
/// at (a rebuild) makes a read fail, where a mapping would end the runner by SIGBUS.
/// Move-only owner of its descriptor, which is close-on-exec.
class ImageFile {
 public:
  /// The regular file at `path`. Nothing where the path is not absolute, nothing readable is there,
  /// or it is no regular file: the path comes from a child, and may name a pipe or a device.
  static std::optional<ImageFile> open(const std::string& path);

  /// A file that is in memory, which must outlive this object.
  explicit ImageFile(std::string_view bytes) : bytes_(bytes), size_(bytes.size()) {}

  ImageFile(ImageFile&& other) noexcept;
  ImageFile& operator=(ImageFile&&) = delete;
  ~ImageFile();

  /// Bytes in it when it was opened.
  uint64_t size() const { return size_; }
  /// -1: in memory. This object keeps it.
  int fd() const { return fd_; }
  /// All of `bytes` at `offset`, or false: they are not all there.
  bool read(uint64_t offset, void* to, uint64_t bytes) const;
  /// The bytes at `offset` as a string; empty where they are not all there.
  std::string read(uint64_t offset, uint64_t bytes) const;

 private:
  ImageFile(int fd, uint64_t size) : fd_(fd), size_(size) {}

  int fd_ = -1;
  std::string_view bytes_;
  uint64_t size_ = 0;
};

}  // namespace mpsprobe
