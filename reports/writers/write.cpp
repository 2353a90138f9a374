#include "reports/writers/write.h"

#include <fstream>
#include <system_error>

#include "reports/words/text.h"
#include "reports/writers/json.h"
#include "reports/writers/markdown.h"

namespace mpsprobe {
namespace {

constexpr Writer kWriters[] = {
    {.format = "markdown",
     .file = "report.md",
     .mark = "mpsprobe report",
     .text = [](const Journal&, const Analysis& analysis) { return report_markdown(analysis); }},
    {.format = "json",
     .file = "report.json",
     .mark = "\"mpsprobe_report\"",
     .text = [](const Journal& journal,
                const Analysis& analysis) { return json_text(report_json(journal, analysis)); }},
};

bool is_own(const std::filesystem::path& file, std::string_view mark) {
  constexpr size_t kBeginning = 4096;
  std::ifstream stream(file, std::ios::binary);
  std::string bytes(kBeginning, '\0');
  stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<size_t>(stream.gcount()));
  return bytes.empty() || bytes.find(mark) != std::string::npos;
}

}  // namespace

std::span<const Writer> writers() {
  return kWriters;
}

void refuse_foreign_reports(const std::filesystem::path& folder) {
  for (const Writer& writer : kWriters) {
    const std::filesystem::path file = folder / writer.file;
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error) || is_own(file, writer.mark)) continue;
    throw ReportError(printable(file.string()) +
                      ": is there and was not written by mpsprobe: it is left as it is. Move it "
                      "elsewhere; a run that is finished writes its report by `mpsprobe report`");
  }
}

std::vector<std::filesystem::path> write_reports(const std::filesystem::path& folder,
                                                 const Journal& journal, const Analysis& analysis) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw cannot_write(folder, "cannot be created", error.value());
  refuse_foreign_reports(folder);
  std::vector<std::filesystem::path> written;
  for (const Writer& writer : kWriters) {
    written.push_back(folder / writer.file);
    write_atomically(written.back(), writer.text(journal, analysis));
  }
  return written;
}

}  // namespace mpsprobe
