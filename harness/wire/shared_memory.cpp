#include "harness/wire/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace mpsprobe {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

#ifdef __linux__
int open_anonymous() {
  return memfd_create("mpsprobe-recorder", MFD_CLOEXEC | MFD_ALLOW_SEALING);
}
void seal(int fd) {
  fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
}
#else
int open_anonymous() {
  static std::atomic<unsigned> counter{0};
  // macOS limits the name to 31 characters.
  const std::string name =
      "/mpsprobe." + std::to_string(getpid()) + "." + std::to_string(counter.fetch_add(1));
  const int fd = shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  if (fd >= 0) {
    shm_unlink(name.c_str());
    fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
  return fd;
}
void seal(int) {}
#endif

}  // namespace

SharedMemory SharedMemory::create(size_t bytes) {
  Descriptor fd(open_anonymous());
  if (!fd.is_open()) fail("create shared memory");
  if (ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) fail("size shared memory");
  seal(fd.get());
  return {std::move(fd), bytes};
}

SharedMemory SharedMemory::attach(int fd, size_t bytes) {
  Descriptor owned(fd);
  struct stat status {};
  if (fstat(fd, &status) != 0) fail("inspect shared memory");
  if (static_cast<size_t>(status.st_size) < bytes) {
    errno = EINVAL;
    fail("shared memory is smaller than a flight recorder");
  }
  return {std::move(owned), bytes};
}

SharedMemory::SharedMemory(Descriptor fd, size_t bytes)
    : fd_(std::move(fd)), data_(nullptr, Unmapped{bytes}) {
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
  if (data == MAP_FAILED) fail("map shared memory");
  data_.reset(data);
}

void SharedMemory::Unmapped::operator()(void* data) const {
  munmap(data, bytes);
}

}  // namespace mpsprobe
