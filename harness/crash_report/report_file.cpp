#include "harness/crash_report/report_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "harness/crash_report/report_limits.h"
#include "harness/wire/ascii.h"
#include "harness/wire/write_all.h"

namespace mpsprobe {
namespace {

constexpr int kMostNames = 100;

}  // namespace

std::optional<FileStamp> stamp_of(const std::filesystem::path& file) {
  struct stat status {};
  if (lstat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size < 0 ||
      static_cast<uint64_t>(status.st_size) > report_limits::kMostBytes) {
    return std::nullopt;
  }
#ifdef __APPLE__
  const timespec changed = status.st_ctimespec;
#else
  const timespec changed = status.st_ctim;
#endif
  return FileStamp{static_cast<uint64_t>(status.st_dev), static_cast<uint64_t>(status.st_ino),
                   static_cast<uint64_t>(status.st_size),
                   int64_t{changed.tv_sec} * 1'000'000'000 + changed.tv_nsec};
}

std::optional<std::string> read_regular_file(const std::filesystem::path& file, size_t most) {
  auto content = Folder(file.parent_path()).read(file.filename().string(), most);
  if (!content.has_value()) return std::nullopt;
  return std::move(content->bytes);
}

std::string keep_file(const Folder& folder, const std::string& stem, const std::string& extension,
                      const std::string& content) {
  for (int number = 1; number <= kMostNames; ++number) {
    std::string name = stem + (number == 1 ? "" : "-" + std::to_string(number)) + "." + extension;
    const Descriptor file = folder.open(name, O_WRONLY | O_CREAT | O_EXCL);
    if (file.is_open()) {
      if (write_all(file.get(), content)) return name;
      folder.remove(name);
      return "";
    }
    if (errno != EEXIST) return "";
    // Kept already: for another process of the trial, or by a run that was killed and goes on.
    const auto kept = folder.read(name, content.size() + 1);
    if (kept.has_value() && kept->bytes == content) return name;
  }
  return "";
}

std::string safe_file_name(const std::string& text) {
  std::string name = text.substr(0, 80);
  for (char& c : name) {
    if (!ascii::plain(c)) c = '-';
  }
  if (name.empty() || name.front() == '.') name.insert(0, "-");
  return name;
}

}  // namespace mpsprobe
