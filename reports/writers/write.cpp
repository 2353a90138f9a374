#include "reports/writers/write.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <system_error>
#include <utility>

#include "reports/words/text.h"
#include "reports/writers/json.h"
#include "reports/writers/markdown.h"

namespace mpsprobe {
namespace {

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& what, int error,
                       const std::string& again) {
  const std::string remedy =
      error == ENOSPC || error == EDQUOT ? "Free some space" : "Check the folder's permissions";
  throw ReportError(printable(file.string()) + ": " + what + ": " +
                    std::generic_category().message(error) + ". " + remedy + "; " + again);
}

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& beside)
      : path_(beside.string() + ".tmp." + std::to_string(::getpid())) {
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
    return ::fsync(fd_) == 0;
  }

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

}  // namespace

void write_atomically(const std::filesystem::path& file, std::string_view bytes,
                      const std::string& again) {
  TemporaryFile temporary(file);
  if (!temporary.is_open()) fail(file, "cannot be created", errno, again);
  if (!temporary.write(bytes)) fail(file, "cannot be written", errno, again);
  if (!temporary.rename_to(file)) fail(file, "cannot be put in place", errno, again);
}

namespace {

/// How every report of any version begins, within its first bytes.
bool is_own(const std::filesystem::path& file, std::string_view mark) {
  constexpr size_t kBeginning = 4096;
  std::ifstream stream(file, std::ios::binary);
  std::string bytes(kBeginning, '\0');
  stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<size_t>(stream.gcount()));
  return bytes.empty() || bytes.find(mark) != std::string::npos;
}

}  // namespace

void refuse_foreign_reports(const std::filesystem::path& folder) {
  constexpr std::pair<const char*, std::string_view> kReports[] = {
      {"report.json", "\"mpsprobe_report\""}, {"report.md", "mpsprobe report"}};
  for (const auto& [name, mark] : kReports) {
    const std::filesystem::path file = folder / name;
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error) || is_own(file, mark)) continue;
    throw ReportError(printable(file.string()) +
                      ": is there and was not written by mpsprobe: it is left as it is. Move it "
                      "elsewhere; a run that is finished writes its report by `mpsprobe report`");
  }
}

WrittenReports write_reports(const std::filesystem::path& folder, const Journal& journal,
                             const Analysis& analysis) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    fail(folder, "cannot be created", error.value(),
         "the journal is untouched, and `mpsprobe report` writes the report again");
  }
  refuse_foreign_reports(folder);
  WrittenReports written{folder / "report.json", folder / "report.md"};
  write_atomically(written.json, json_text(report_json(journal, analysis)));
  write_atomically(written.markdown, report_markdown(analysis));
  return written;
}

}  // namespace mpsprobe
