#include "reports/writers/atomic_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

#include "reports/words/safe_text.h"

namespace mpsprobe {
namespace {

constexpr const char* kTemporary = ".tmp.";

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& beside)
      : path_(beside.string() + kTemporary + std::to_string(::getpid())) {
    // Left behind by a process that was killed and had the same id.
    ::unlink(path_.c_str());
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (fd_ >= 0) ::close(fd_);
    if (!renamed_) ::unlink(path_.c_str());
  }

  bool is_open() const { return fd_ >= 0; }

  bool write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return false;
      bytes.remove_prefix(static_cast<size_t>(written));
    }
    return true;
  }

  /// A file that is replaced keeps its permissions.
  void permissions_of(const std::filesystem::path& file) {
    struct stat now {};
    if (::lstat(file.c_str(), &now) == 0 && S_ISREG(now.st_mode)) ::fchmod(fd_, now.st_mode & 0777);
  }

  bool sync() { return ::fsync(fd_) == 0; }

  bool rename_to(const std::filesystem::path& file) {
    const int fd = fd_;
    fd_ = -1;
    // Some file systems report a full disk only here.
    if (::close(fd) != 0) return false;
    renamed_ = ::rename(path_.c_str(), file.c_str()) == 0;
    return renamed_;
  }

 private:
  std::string path_;
  int fd_ = -1;
  bool renamed_ = false;
};

/// Takes away what writers of this file left that were killed and are gone: "cells.csv.tmp.4242".
void remove_left_behind(const std::filesystem::path& file) {
  const std::string begin = file.filename().string() + kTemporary;
  std::error_code error;
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(begin)) continue;
    int writer = 0;
    const char* const last = name.data() + name.size();
    const auto [rest, bad] = std::from_chars(name.data() + begin.size(), last, writer);
    if (bad != std::errc() || rest != last || writer <= 0) continue;
    if (::kill(writer, 0) != 0 && errno == ESRCH) ::unlink(entry->path().c_str());
  }
}

}  // namespace

ReportError cannot_write(const std::filesystem::path& file, const std::string& what, int error,
                         const std::string& again) {
  const std::string remedy =
      error == ENOSPC || error == EDQUOT ? "Free some space" : "Check the folder's permissions";
  return ReportError(printable(file.string()) + ": " + what + ": " +
                     std::generic_category().message(error) + ". " + remedy + "; " + again);
}

void write_atomically(const std::filesystem::path& file, std::string_view bytes,
                      const std::string& again) {
  write_atomically(
      file, [bytes](const Sink& sink) { sink(bytes); }, again);
}

void write_atomically(const std::filesystem::path& file,
                      const std::function<void(const Sink&)>& write, const std::string& again) {
  remove_left_behind(file);
  TemporaryFile temporary(file);
  if (!temporary.is_open()) throw cannot_write(file, "cannot be created", errno, again);
  temporary.permissions_of(file);
  write([&](std::string_view bytes) {
    if (!temporary.write(bytes)) throw cannot_write(file, "cannot be written", errno, again);
  });
  if (!temporary.sync()) throw cannot_write(file, "cannot be written", errno, again);
  if (!temporary.rename_to(file)) throw cannot_write(file, "cannot be put in place", errno, again);
}

}  // namespace mpsprobe
