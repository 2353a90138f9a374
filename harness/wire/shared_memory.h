#pragma once

#include <cstddef>
#include <string>

namespace mpsprobe {

/// Memory that two processes share through an inherited file descriptor. Move-only owner of the
/// mapping and of the descriptor.
class SharedMemory {
 public:
  /// Anonymous zeroed memory. On Linux a sealed memfd, so that a child which truncates it cannot
  /// raise SIGBUS in the runner; on macOS an unlinked POSIX shared memory object, which the system
  /// does not let anyone resize twice. The descriptor is close-on-exec. Throws std::system_error.
  static SharedMemory create(size_t bytes);

  /// Maps `bytes` of an inherited descriptor, which this object then owns. Throws
  /// std::system_error; an object smaller than `bytes` is refused.
  static SharedMemory attach(int fd, size_t bytes);

  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  void* data() const { return data_; }
  int fd() const { return fd_; }

 private:
  SharedMemory(int fd, void* data, size_t bytes) : fd_(fd), data_(data), bytes_(bytes) {}

  int fd_ = -1;
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace mpsprobe
