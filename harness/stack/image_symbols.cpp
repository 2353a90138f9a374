#include "harness/stack/image_symbols.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace mpsprobe {
namespace {

[[maybe_unused]] constexpr std::string_view kElf = "\177ELF";

}  // namespace

std::optional<ImageFile> ImageFile::open(const std::string& path) {
  // Relative names are no files: "linux-vdso.so.1", a path cut at its front.
  if (path.empty() || path.front() != '/') return std::nullopt;
  // O_NONBLOCK: opening a pipe that nobody writes to would wait for ever.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return ImageFile(std::move(file), static_cast<uint64_t>(status.st_size));
}

bool ImageFile::read(uint64_t offset, void* to, uint64_t bytes) const {
  if (offset > size_ || bytes > size_ - offset) return false;
  if (!file_.is_open()) {
    if (bytes > 0) std::memcpy(to, bytes_.data() + offset, bytes);
    return true;
  }
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = pread(file_.get(), at, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    offset += static_cast<uint64_t>(got);
    bytes -= static_cast<uint64_t>(got);
  }
  return true;
}

std::string ImageFile::read(uint64_t offset, uint64_t bytes) const {
  // Before the memory is asked for: the length comes from the file.
  if (offset > size_ || bytes > size_ - offset) return {};
  std::string text(bytes, '\0');
  if (!read(offset, text.data(), bytes)) text.clear();
  return text;
}

std::unique_ptr<ImageSymbols> open_image_symbols(const std::string& path,
                                                 const std::string& image_id) {
  std::optional<ImageFile> file = ImageFile::open(path);
#ifdef __APPLE__
  if (!file) return open_system_symbols(path, image_id);
#endif
#ifdef __linux__
  if (file && file->read(0, 4) == kElf) return open_elf_symbols(std::move(*file), path, image_id);
#endif
  return file ? open_macho_symbols(*file, image_id) : nullptr;
}

std::string image_literals(const std::string& path, const std::optional<std::string>& image_id) {
  if (image_id && image_id->empty()) return "";
  std::optional<ImageFile> file = ImageFile::open(path);
#ifdef __APPLE__
  if (!file && image_id) return system_literals(path, *image_id);
#endif
#ifdef __linux__
  if (file && file->read(0, 4) == kElf) return elf_literals(std::move(*file), image_id);
#endif
  return file ? macho_literals(*file, image_id) : "";
}

}  // namespace mpsprobe
