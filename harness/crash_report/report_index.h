#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "harness/crash_report/crash_report.h"
#include "harness/crash_report/report_file.h"

namespace mpsprobe {

/// What is known of a crash report without keeping its stacks.
struct CrashReportKey {
  std::string incident;
  int64_t pid = 0;
  double launched = 0;
  double captured = 0;
};

/// The reports of some folders, each file read once: again only where its size, time or inode
/// changed. A folder may hold thousands of old ones; of these only the first bytes are read.
/// Not thread-safe.
class ReportIndex {
 public:
  explicit ReportIndex(std::vector<std::filesystem::path> folders) : folders_(std::move(folders)) {}

  /// How many reports a refresh read.
  struct News {
    size_t crashes = 0;
    size_t events = 0;
  };
  /// Looks at what is new in the folders. A report that the system wrote before `since` (seconds
  /// since 1970) is left unread until a refresh asks for its time. A folder that is missing or may
  /// not be read is passed over.
  News refresh(double since);

  /// All of a kind, CrashReportKey or GpuEvent, in the order of their paths; valid until the next
  /// refresh.
  template <typename Kind>
  std::vector<std::pair<const std::filesystem::path*, const Kind*>> all() const {
    std::vector<std::pair<const std::filesystem::path*, const Kind*>> found;
    for (const auto& [file, entry] : entries_) {
      if (const auto* kind = std::get_if<Kind>(&entry.content)) found.emplace_back(&file, kind);
    }
    return found;
  }

 private:
  /// Left unread: the system wrote it at that time.
  struct Earlier {
    double written = 0;
  };
  /// No use, for good or until it has grown.
  struct Useless {};
  struct Entry {
    FileStamp stamp;
    std::variant<Useless, Earlier, CrashReportKey, GpuEvent> content;
  };

  void look_at(const std::filesystem::path& file, double since, News& news);

  std::vector<std::filesystem::path> folders_;
  std::map<std::filesystem::path, Entry> entries_;
};

}  // namespace mpsprobe
