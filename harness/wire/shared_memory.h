#pragma once

#include <cstddef>
#include <memory>

#include "harness/folder/descriptor.h"

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

  void* data() const { return data_.get(); }
  int fd() const { return fd_.get(); }

 private:
  struct Unmapped {
    size_t bytes;
    void operator()(void* data) const;
  };

  SharedMemory(Descriptor fd, size_t bytes);

  Descriptor fd_;
  std::unique_ptr<void, Unmapped> data_;
};

}  // namespace mpsprobe
