#include "reproducers/bundle/evidence_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

namespace mpsprobe {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

bool is_plain_part(const std::string& part) {
  return !part.empty() && part != "." && part != ".." &&
         std::none_of(part.begin(), part.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

std::optional<std::vector<std::string>> parts_of(const std::string& relative) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin < relative.size();) {
    const size_t end = std::min(relative.find('/', begin), relative.size());
    parts.push_back(relative.substr(begin, end - begin));
    if (!is_plain_part(parts.back())) return std::nullopt;
    begin = end + 1;
  }
  return parts;
}

/// The folder that `parts` name, each opened from the one before it.
Descriptor open_folder(const std::filesystem::path& root, const std::vector<std::string>& parts) {
  Descriptor folder(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (const std::string& part : parts) {
    if (folder.get() < 0) break;
    folder = Descriptor(::openat(folder.get(), part.c_str(),
                                 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  }
  return folder;
}

std::string reason_of(int error) {
  if (error == ELOOP) return "it is a link, which is not followed";
  if (error == ENOTDIR) return "a part of its path is a link or no folder";
  if (error == ENXIO) return "it is no regular file";
  return std::generic_category().message(error);
}

std::vector<std::string> names_in(const std::filesystem::path& root, const std::string& relative,
                                  size_t most, mode_t kind) {
  const auto parts = parts_of(relative);
  if (!parts.has_value()) return {};
  Descriptor folder = open_folder(root, *parts);
  if (folder.get() < 0) return {};
  DIR* stream = ::fdopendir(folder.get());
  if (stream == nullptr) return {};
  const int descriptor = folder.release();
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(stream)) {
    struct stat status {};
    const std::string name = entry->d_name;
    if (!is_plain_part(name) ||
        ::fstatat(descriptor, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        (status.st_mode & S_IFMT) != kind) {
      continue;
    }
    names.push_back(name);
  }
  ::closedir(stream);
  std::sort(names.begin(), names.end());
  if (names.size() > most) names.resize(most);
  return names;
}

}  // namespace

std::optional<EvidenceFolder::File> EvidenceFolder::read(const std::string& relative, size_t most,
                                                         std::string* why) const {
  const auto refuse = [why](const std::string& reason) {
    if (why != nullptr) *why = reason;
    return std::nullopt;
  };
  auto parts = parts_of(relative);
  if (!parts.has_value() || parts->empty()) return refuse("its path leads out of the folder");
  const std::string name = parts->back();
  parts->pop_back();
  const Descriptor folder = open_folder(root_, *parts);
  if (folder.get() < 0) return refuse(reason_of(errno));
  const Descriptor file(
      ::openat(folder.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (file.get() < 0) return refuse(reason_of(errno));
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return refuse("it is no regular file");
  }
  File content;
  content.size = static_cast<size_t>(status.st_size);
  char buffer[65536];
  while (content.bytes.size() < most) {
    const ssize_t count =
        ::read(file.get(), buffer, std::min(sizeof buffer, most - content.bytes.size()));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return refuse(reason_of(errno));
    if (count == 0) break;
    content.bytes.append(buffer, static_cast<size_t>(count));
  }
  content.size = std::max(content.size, content.bytes.size());
  return content;
}

std::vector<std::string> EvidenceFolder::files(const std::string& relative, size_t most) const {
  return names_in(root_, relative, most, S_IFREG);
}

std::vector<std::string> EvidenceFolder::folders(const std::string& relative, size_t most) const {
  return names_in(root_, relative, most, S_IFDIR);
}

}  // namespace mpsprobe
