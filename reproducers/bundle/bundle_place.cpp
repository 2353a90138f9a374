#include "reproducers/bundle/bundle_place.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <stdexcept>
#include <system_error>

#include "harness/folder/folder.h"
#include "harness/input/input_error.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, int error) {
  if (error == EACCES || error == EROFS || error == EPERM) {
    throw InputError(printable(path.parent_path().string()),
                     std::string("is a folder that cannot be written into: ") +
                         std::generic_category().message(error),
                     "Name another one with --out");
  }
  throw fs::filesystem_error("a part of the bundle cannot be written", path,
                             std::error_code(error, std::generic_category()));
}

void write_new(const Folder& folder, const std::string& name, std::string_view bytes) {
  NewFile file(folder, name);
  if (!file.is_open() || !file.write(bytes) || !file.sync() || !file.create()) {
    fail(folder.path() / name, errno);
  }
}

/// Removes what processes that are gone left unfinished: folders whose names are this and a number
/// of a process.
void remove_remains(const fs::path& parent, const std::string& prefix) {
  for (const auto& entry : fs::directory_iterator(parent)) {
    const std::string file = entry.path().filename().string();
    if (!file.starts_with(prefix)) continue;
    pid_t pid = 0;
    std::from_chars(file.data() + prefix.size(), file.data() + file.size(), pid);
    if (pid <= 0 || ::kill(pid, 0) == 0 || errno != ESRCH) continue;
    std::error_code ignored;
    fs::remove_all(entry.path(), ignored);
  }
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::symlink_status(path, error).type() != fs::file_type::not_found;
}

}  // namespace

BundlePlace::BundlePlace(const fs::path& parent, const std::string& name)
    : folder_(parent / name),
      archive_(parent / (name + ".zip")),
      unfinished_(parent / fmt::format(".{}.unfinished.{}", name, ::getpid())) {
  for (const fs::path& path : {folder_, archive_}) {
    if (!is_there(path)) continue;
    throw InputError(printable(path.string()), "is there already, and is not overwritten",
                     "Move or remove it and what belongs to it, or name another folder with --out");
  }
  std::error_code error;
  fs::create_directories(parent, error);
  if (!error) remove_remains(parent, "." + name + ".unfinished.");
  if (!error) fs::remove_all(unfinished_, error);
  if (!error) fs::create_directory(unfinished_, error);
  if (error) fail(unfinished_, error.value());
}

BundlePlace::~BundlePlace() {
  std::error_code ignored;
  fs::remove_all(unfinished_, ignored);
}

void BundlePlace::write(const std::vector<BundleFile>& files) {
  for (const BundleFile& file : files) {
    const fs::path relative(file.path);
    if (relative.is_absolute() || std::count(relative.begin(), relative.end(), "..") > 0) {
      throw std::logic_error("a bundle's file leads out of it: " + printable(file.path));
    }
    const Folder folder(unfinished_);
    const std::string name = relative.filename();
    if (relative.has_parent_path()) {
      write_new(folder.make_below(relative.parent_path()), name, file.bytes);
    } else {
      write_new(folder, name, file.bytes);
    }
  }
}

void BundlePlace::put(std::string_view archive) {
  // Both fail where somebody else has been faster.
  write_new(Folder(archive_.parent_path()), archive_.filename(), archive);
  fs::rename(unfinished_, folder_);
}

}  // namespace mpsprobe
