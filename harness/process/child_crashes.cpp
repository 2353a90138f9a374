#include "harness/process/child_crashes.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <set>

#include "harness/folder/descriptor.h"
#include "harness/wire/child_crashes.h"

namespace mpsprobe {
namespace {

constexpr size_t kMost = 8;

bool is_own(const Descriptor& descriptor, mode_t kind) {
  struct stat what {};
  return fstat(descriptor.get(), &what) == 0 && (what.st_mode & S_IFMT) == kind &&
         what.st_uid == geteuid();
}

/// All files of the folder by their numbers, in this order.
std::set<std::pair<long, std::string>> numbered_files(int folder) {
  std::set<std::pair<long, std::string>> files;
  DIR* const list = fdopendir(dup(folder));
  if (list == nullptr) return files;
  while (const dirent* entry = readdir(list)) {
    const std::string name = entry->d_name;
    if (name.find_first_not_of("0123456789") == std::string::npos && name.size() < 12)
      files.emplace(std::stol(name), name);
  }
  closedir(list);
  return files;
}

}  // namespace

std::vector<RecorderReading> take_child_crashes(const std::string& mark) {
  std::vector<RecorderReading> crashes;
  const std::string path = child_crash_folder(mark.substr(mark.find('=') + 1));
  const Descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder.is_open() || !is_own(folder, S_IFDIR)) return crashes;
  for (const auto& [number, name] : numbered_files(folder.get())) {
    const Descriptor file(
        openat(folder.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (file.is_open() && is_own(file, S_IFREG) && crashes.size() < kMost) {
      // Read and not mapped: whoever makes it shorter meanwhile harms nobody.
      const auto block = std::make_unique<recorder_layout::Block>();
      const bool whole = read(file.get(), block.get(), sizeof(*block)) == sizeof(*block);
      if (whole && has_crashed(*block)) crashes.push_back(read_recorder(*block));
    }
    unlinkat(folder.get(), name.c_str(), 0);
  }
  rmdir(path.c_str());
  return crashes;
}

}  // namespace mpsprobe
