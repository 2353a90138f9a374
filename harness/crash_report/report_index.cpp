#include "harness/crash_report/report_index.h"

#include "harness/crash_report/ips.h"
#include "harness/crash_report/report_limits.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostFiles = 100'000;
constexpr size_t kHeaderBytes = 8192;
/// The header's time is told in whole seconds.
constexpr double kHeaderResolution = 2;

bool may_be_report(const std::filesystem::path& file) {
  return file.extension() == ".ips" || file.extension() == ".crash";
}

}  // namespace

ReportIndex::News ReportIndex::refresh(double since) {
  News news;
  for (const std::filesystem::path& folder : folders_) {
    std::error_code error;
    std::filesystem::directory_iterator entry(folder, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
      if (may_be_report(entry->path())) look_at(entry->path(), since, news);
    }
  }
  return news;
}

void ReportIndex::look_at(const std::filesystem::path& file, double since, News& news) {
  const std::optional<FileStamp> stamp = stamp_of(file);
  if (!stamp.has_value()) return;
  const auto known = entries_.find(file);
  if (known == entries_.end() && entries_.size() >= kMostFiles) return;
  Entry& entry = known == entries_.end() ? entries_[file] : known->second;
  const bool unchanged = known != entries_.end() && entry.stamp == *stamp;
  const auto* earlier = std::get_if<Earlier>(&entry.content);
  if (unchanged && (earlier == nullptr || earlier->written + kHeaderResolution < since)) return;
  entry = {*stamp, Useless{}};
  const std::optional<std::string> beginning = read_regular_file(file, kHeaderBytes);
  if (!beginning.has_value()) return;
  if (const auto header = parse_report_header(*beginning)) {
    if (!is_wanted_bug_type(header->bug_type)) return;
    if (header->written != 0 && header->written + kHeaderResolution < since) {
      entry.content = Earlier{header->written};
      return;
    }
  }
  const std::optional<std::string> content = read_regular_file(file, report_limits::kMostBytes);
  if (!content.has_value()) return;
  ParsedReport parsed = parse_crash_report(*content);
  if (const auto* crash = std::get_if<CrashReport>(&parsed)) {
    entry.content = CrashReportKey{crash->incident, crash->pid, crash->launched, crash->captured};
    ++news.crashes;
  } else if (auto* event = std::get_if<GpuEvent>(&parsed)) {
    entry.content = std::move(*event);
    ++news.events;
  }
}

}  // namespace mpsprobe
