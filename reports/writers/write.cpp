#include "reports/writers/write.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <system_error>

#include "harness/folder/folder.h"
#include "harness/input/input_error.h"
#include "harness/input/near_name.h"
#include "harness/wire/split.h"
#include "reports/html/html.h"
#include "reports/words/safe_text.h"
#include "reports/writers/forms.h"

namespace mpsprobe {
namespace {

template <std::string (*report)(const Analysis&)>
void of_analysis(const Journal&, const Analysis& analysis, const Beside&, const Sink& sink) {
  sink(report(analysis));
}
void json_of(const Journal& journal, const Analysis& analysis, const Beside&, const Sink& sink) {
  write_report_json(journal, analysis, sink);
}
void html_of(const Journal&, const Analysis& analysis, const Beside& beside, const Sink& sink) {
  sink(report_html(analysis, beside));
}
void junit_of(const Journal& journal, const Analysis& analysis, const Beside&, const Sink& sink) {
  sink(report_junit(journal, analysis));
}

constexpr Writer kWriters[] = {
    {"markdown", "report.md", "mpsprobe report", of_analysis<report_markdown>},
    {"markdown", "details.md", "mpsprobe details", of_analysis<details_markdown>},
    {"json", "report.json", "\"mpsprobe_report\"", json_of},
    {"html", "report.html", "mpsprobe report: html", html_of},
    {"junit", "junit.xml", "mpsprobe report: junit", junit_of},
    {"csv", "cells.csv", kCsvMark, of_analysis<report_csv>},
    {"svg", "boundaries.svg", "mpsprobe report: svg", of_analysis<report_svg>},
    {"github", "github-summary.md", "mpsprobe report: github", of_analysis<report_github>},
    {"github", "github-annotations.txt", "mpsprobe report: annotations",
     of_analysis<report_annotations>},
};

constexpr std::string_view kDefaultFormats = "markdown,json";

bool is_own(const std::filesystem::path& file, std::string_view mark) {
  constexpr size_t kBeginning = 4096;
  const auto begin = Folder(file.parent_path()).read(file.filename().string(), kBeginning);
  return begin.has_value() &&
         (begin->bytes.empty() || begin->bytes.find(mark) != std::string::npos);
}

}  // namespace

std::span<const Writer> writers() {
  return kWriters;
}

Formats default_formats() {
  return formats_named(kDefaultFormats);
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const Writer& writer : kWriters) {
    if (names.empty() || names.back() != writer.format) names.emplace_back(writer.format);
  }
  return names;
}

Formats formats_named(std::string_view list) {
  std::set<std::string_view> wanted;
  const std::vector<std::string> known = format_names();
  for (const std::string_view name : split(list, ',')) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw InputError("--format " + shortened(printable(name), 60),
                       "there is no such format" + did_you_mean(name, known),
                       fmt::format("There are: {}", fmt::join(known, ", ")));
    }
    wanted.insert(name);
  }
  Formats formats;
  for (const Writer& writer : kWriters) {
    if (wanted.contains(writer.format)) formats.push_back(&writer);
  }
  return formats;
}

void refuse_foreign_reports(const std::filesystem::path& folder, const Formats& formats) {
  for (const Writer* writer : formats) {
    const std::filesystem::path file = folder / writer->file;
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error) || is_own(file, writer->mark)) continue;
    throw ReportError(printable(file.string()) +
                      ": is there and was not written by mpsprobe: it is left as it is. Move it "
                      "elsewhere; a run that is finished writes its report by `mpsprobe report`");
  }
}

bool shows_beside(const Formats& formats) {
  return std::any_of(formats.begin(), formats.end(),
                     [](const Writer* writer) { return writer->format == "html"; });
}

std::vector<std::filesystem::path> write_reports(const std::filesystem::path& folder,
                                                 const Journal& journal, const Analysis& analysis,
                                                 const Formats& formats, const Beside& beside) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw cannot_write(folder, "cannot be created", error.value());
  refuse_foreign_reports(folder, formats);
  std::vector<std::filesystem::path> written;
  for (const Writer* writer : formats) {
    written.push_back(folder / writer->file);
    write_atomically(written.back(),
                     [&](const Sink& sink) { writer->write(journal, analysis, beside, sink); });
  }
  return written;
}

}  // namespace mpsprobe
