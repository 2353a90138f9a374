#include "reproducers/bundle/bundle_place.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <system_error>

#include "harness/folder/folder.h"
#include "harness/input/input_error.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const char* what, const fs::path& path, int error) {
  if (error == EACCES || error == EROFS || error == EPERM) {
    throw InputError(printable(path.parent_path().string()),
                     std::string("is a folder that cannot be written into: ") +
                         std::generic_category().message(error),
                     "Name another one with --out");
  }
  throw fs::filesystem_error(what, path, std::error_code(error, std::generic_category()));
}

void write_new(const Folder& folder, const std::string& relative, std::string_view bytes) {
  const fs::path path = folder.path() / relative;
  Descriptor file = folder.open(relative, O_WRONLY | O_CREAT | O_EXCL);
  if (!file.is_open()) fail("a file of the bundle cannot be created", path, errno);
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("a file of the bundle cannot be written", path, errno);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  // Some file systems report a full disk only at the end.
  if (::fsync(file.get()) != 0 || ::close(file.release()) != 0) {
    fail("a file of the bundle cannot be written", path, errno);
  }
}

std::string prefix_of(const std::string& name) {
  return "." + name + ".unfinished.";
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::symlink_status(path, error).type() != fs::file_type::not_found;
}

}  // namespace

BundlePlace::BundlePlace(fs::path parent, std::string name)
    : parent_(std::move(parent)), name_(std::move(name)) {
  refuse_existing();
  std::error_code error;
  fs::create_directories(parent_, error);
  if (error) fail("the bundles' folder cannot be created", parent_, error.value());
  remove_remains();
  unfinished_ = parent_ / (prefix_of(name_) + std::to_string(::getpid()));
  fs::remove_all(unfinished_);
  if (!fs::create_directory(unfinished_, error)) {
    fail("the bundle's folder cannot be created", unfinished_, error ? error.value() : EEXIST);
  }
}

BundlePlace::~BundlePlace() {
  std::error_code ignored;
  fs::remove_all(unfinished_, ignored);
  fs::remove(unfinished_.string() + ".zip", ignored);
}

void BundlePlace::refuse_existing() const {
  for (const fs::path& path : {folder(), archive()}) {
    if (!is_there(path)) continue;
    throw InputError(printable(path.string()), "is there already, and is not overwritten",
                     "Move or remove it and what belongs to it, or name another folder with --out");
  }
}

/// Of processes that are gone.
void BundlePlace::remove_remains() const {
  const std::string prefix = prefix_of(name_);
  for (const auto& entry : fs::directory_iterator(parent_)) {
    const std::string file = entry.path().filename().string();
    if (!file.starts_with(prefix)) continue;
    int64_t pid = 0;
    std::from_chars(file.data() + prefix.size(), file.data() + file.size(), pid);
    if (pid <= 0 || ::kill(static_cast<pid_t>(pid), 0) == 0 || errno != ESRCH) continue;
    std::error_code ignored;
    fs::remove_all(entry.path(), ignored);
  }
}

void BundlePlace::write(const std::vector<BundleFile>& files) {
  for (const BundleFile& file : files) {
    const fs::path relative(file.path);
    if (relative.is_absolute() || std::count(relative.begin(), relative.end(), "..") > 0) {
      throw std::logic_error("a bundle's file leads out of it: " + printable(file.path));
    }
    const std::string parent = relative.parent_path();
    const Folder folder(unfinished_);
    if (!parent.empty()) folder.make_below(parent);
    write_new(folder, file.path, file.bytes);
  }
}

void BundlePlace::put(std::string_view archive) {
  const fs::path unfinished_archive = unfinished_.string() + ".zip";
  std::error_code ignored;
  fs::remove(unfinished_archive, ignored);
  write_new(Folder(parent_), unfinished_archive.filename(), archive);
  // Somebody else may have been faster; rename() would put the one over the other.
  refuse_existing();
  fs::rename(unfinished_archive, this->archive());
  fs::rename(unfinished_, folder());
}

}  // namespace mpsprobe
