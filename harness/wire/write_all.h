#pragma once

#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace mpsprobe {

/// All of the bytes, through interruptions; false, with errno set, where that could not be.
inline bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace mpsprobe
