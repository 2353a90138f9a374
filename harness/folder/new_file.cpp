#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>

#include "harness/folder/folder.h"
#include "harness/wire/write_all.h"

namespace mpsprobe {
namespace {

constexpr const char* kUnfinished = ".tmp.";

/// Takes away what writers of this file left that were killed and are gone: "cells.csv.tmp.4242".
void remove_left_behind(const Folder& folder, const std::string& name) {
  constexpr size_t kMost = 100'000;
  const std::string begin = name + kUnfinished;
  for (const std::string& file : folder.files("", kMost)) {
    if (!file.starts_with(begin)) continue;
    int writer = 0;
    const char* const last = file.data() + file.size();
    const auto [rest, bad] = std::from_chars(file.data() + begin.size(), last, writer);
    if (bad != std::errc() || rest != last || writer <= 0) continue;
    if (::kill(writer, 0) != 0 && errno == ESRCH) folder.remove(file);
  }
}

}  // namespace

NewFile::NewFile(const Folder& folder, std::string name)
    : folder_(folder),
      name_(std::move(name)),
      beside_(name_ + kUnfinished + std::to_string(::getpid())) {
  if (!folder_.is_open()) return;
  remove_left_behind(folder_, name_);
  folder_.remove(beside_);  // left by a process that had the same id, or a link
  file_ = folder_.open(beside_, O_RDWR | O_CREAT | O_EXCL);
}

NewFile::~NewFile() {
  if (!beside_.empty()) folder_.remove(beside_);
}

bool NewFile::write(std::string_view bytes) {
  return write_all(file_.get(), bytes);
}

bool NewFile::sync() {
  return ::fsync(file_.get()) == 0;
}

bool NewFile::replace() {
  struct stat now {};
  if (::fstatat(folder_.folder_.get(), name_.c_str(), &now, AT_SYMLINK_NOFOLLOW) == 0 &&
      S_ISREG(now.st_mode)) {
    ::fchmod(file_.get(), now.st_mode & 0777);
  }
  if (!folder_.rename(beside_, name_)) return false;
  beside_.clear();
  return true;
}

bool NewFile::create() {
  return ::linkat(folder_.folder_.get(), beside_.c_str(), folder_.folder_.get(), name_.c_str(),
                  0) == 0;
}

}  // namespace mpsprobe
