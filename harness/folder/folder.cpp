#include "harness/folder/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

bool is_plain_part(const std::string& part) {
  return !part.empty() && part != "." && part != ".." &&
         std::none_of(part.begin(), part.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

/// Nothing, with errno set, where the path could lead out.
std::optional<std::vector<std::string>> parts_of(const std::string& relative) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin < relative.size();) {
    const size_t end = std::min(relative.find('/', begin), relative.size());
    parts.push_back(relative.substr(begin, end - begin));
    if (!is_plain_part(parts.back())) {
      errno = EXDEV;
      return std::nullopt;
    }
    begin = end + 1;
  }
  return parts;
}

/// The folder that `parts` name from `from` on, each opened from the one before it.
Descriptor open_folder(int from, const std::vector<std::string>& parts) {
  Descriptor folder(::openat(from, ".", kFolder));
  for (const std::string& part : parts) {
    if (!folder.is_open()) break;
    folder = Descriptor(::openat(folder.get(), part.c_str(), kFolder | O_NOFOLLOW | O_NONBLOCK));
  }
  return folder;
}

std::vector<std::string> names_in(const Folder& folder, int from, const std::string& relative,
                                  size_t most, mode_t kind) {
  const auto parts = parts_of(relative);
  if (!folder.is_open() || !parts.has_value()) return {};
  Descriptor opened = open_folder(from, *parts);
  if (!opened.is_open()) return {};
  DIR* stream = ::fdopendir(opened.get());
  if (stream == nullptr) return {};
  const int descriptor = opened.release();
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

[[noreturn]] void fail(const char* what, const fs::path& path, int error) {
  throw fs::filesystem_error(what, path, std::error_code(error, std::generic_category()));
}

}  // namespace

std::string reason_of(int error) {
  if (error == ELOOP) return "it is a link, which is not followed";
  if (error == ENOTDIR) return "a part of its path is a link or no folder";
  if (error == ENXIO) return "it is no regular file";
  if (error == EXDEV) return "its path leads out of the folder";
  return std::generic_category().message(error);
}

Folder::Folder(fs::path path, Descriptor folder)
    : path_(std::move(path)), folder_(std::move(folder)) {}

Folder::Folder(fs::path path) : path_(std::move(path)) {
  folder_ = Descriptor(::open(path_.empty() ? "." : path_.c_str(), kFolder));
}

Folder Folder::made(const fs::path& path) {
  fs::create_directories(path);
  Folder folder(path);
  if (!folder.is_open()) fail("cannot be opened", path, errno);
  return folder;
}

Folder Folder::below(const std::string& relative) const {
  const auto parts = parts_of(relative);
  return {path_ / relative, parts.has_value() ? open_folder(folder_.get(), *parts) : Descriptor()};
}

Folder Folder::make_below(const std::string& relative) const {
  const fs::path path = path_ / relative;
  const auto parts = parts_of(relative);
  if (!parts.has_value()) fail("cannot be created", path, errno);
  Descriptor folder(::openat(folder_.get(), ".", kFolder));
  for (const std::string& part : *parts) {
    if (!folder.is_open()) break;
    if (::mkdirat(folder.get(), part.c_str(), 0777) != 0 && errno != EEXIST) {
      fail("cannot be created", path, errno);
    }
    folder = open_folder(folder.get(), {part});
  }
  if (!folder.is_open()) fail("cannot be used: it is there and no folder", path, errno);
  return {path, std::move(folder)};
}

Descriptor Folder::open(const std::string& relative, int flags) const {
  auto parts = parts_of(relative);
  if (!parts.has_value()) return {};
  if (parts->empty()) {
    errno = EISDIR;
    return {};
  }
  const std::string name = parts->back();
  parts->pop_back();
  const Descriptor folder = open_folder(folder_.get(), *parts);
  if (!folder.is_open()) return {};
  Descriptor file(::openat(folder.get(), name.c_str(),
                           flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666));
  struct stat status {};
  if (!file.is_open()) return {};
  if (::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode)) return file;
  file.reset();
  errno = ENXIO;
  return {};
}

std::optional<Folder::File> Folder::read(const std::string& relative, size_t most,
                                         std::string* why) const {
  const auto refuse = [why] {
    if (why != nullptr) *why = reason_of(errno);
    return std::nullopt;
  };
  const Descriptor file = open(relative, O_RDONLY);
  struct stat status {};
  if (!file.is_open() || ::fstat(file.get(), &status) != 0) return refuse();
  File content;
  char buffer[65536];
  while (content.bytes.size() < most) {
    const ssize_t count =
        ::read(file.get(), buffer, std::min(sizeof buffer, most - content.bytes.size()));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return refuse();
    if (count == 0) break;
    content.bytes.append(buffer, static_cast<size_t>(count));
  }
  content.size = std::max(static_cast<size_t>(status.st_size), content.bytes.size());
  return content;
}

std::vector<std::string> Folder::files(const std::string& relative, size_t most) const {
  return names_in(*this, folder_.get(), relative, most, S_IFREG);
}

std::vector<std::string> Folder::folders(const std::string& relative, size_t most) const {
  return names_in(*this, folder_.get(), relative, most, S_IFDIR);
}

bool Folder::rename(const std::string& from, const std::string& to) const {
  return ::renameat(folder_.get(), from.c_str(), folder_.get(), to.c_str()) == 0;
}

bool Folder::remove(const std::string& name) const {
  return ::unlinkat(folder_.get(), name.c_str(), 0) == 0;
}

void Folder::sync() const {
  ::fsync(folder_.get());
}

}  // namespace mpsprobe
