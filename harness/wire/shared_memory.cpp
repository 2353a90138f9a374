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

void* map(int fd, size_t bytes) {
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return data == MAP_FAILED ? nullptr : data;
}

}  // namespace

SharedMemory SharedMemory::create(size_t bytes) {
  const int fd = open_anonymous();
  if (fd < 0) fail("create shared memory");
  SharedMemory memory(fd, nullptr, bytes);
  if (ftruncate(fd, static_cast<off_t>(bytes)) != 0) fail("size shared memory");
  seal(fd);
  memory.data_ = map(fd, bytes);
  if (memory.data_ == nullptr) fail("map shared memory");
  return memory;
}

SharedMemory SharedMemory::attach(int fd, size_t bytes) {
  SharedMemory memory(fd, nullptr, bytes);
  struct stat status {};
  if (fstat(fd, &status) != 0) fail("inspect shared memory");
  if (static_cast<size_t>(status.st_size) < bytes) {
    errno = EINVAL;
    fail("shared memory is smaller than a flight recorder");
  }
  memory.data_ = map(fd, bytes);
  if (memory.data_ == nullptr) fail("map shared memory");
  return memory;
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(other.bytes_) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) munmap(data_, bytes_);
  if (fd_ >= 0) close(fd_);
}

}  // namespace mpsprobe
