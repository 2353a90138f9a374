#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// A report could not be written. The message names the file, the reason and what to do.
class ReportError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Replaces `file` by `bytes` in one step: whoever reads it, and a crash at any moment, sees the
/// old or the new content, whole. A temporary file beside it is renamed once it is on disk, and
/// removed where that fails. Throws ReportError; `again` is what it tells of how to get the file
/// all the same.
void write_atomically(
    const std::filesystem::path& file, std::string_view bytes,
    const std::string& again =
        "the journal is untouched, and `mpsprobe report` writes the report again");

/// Where the two files are.
struct WrittenReports {
  std::filesystem::path json;
  std::filesystem::path markdown;
};

/// Throws ReportError where `folder` holds a report.json or a report.md that no mpsprobe wrote: it
/// would be replaced.
void refuse_foreign_reports(const std::filesystem::path& folder);

/// Writes report.json and report.md into `folder`, which is created where it is missing. Throws
/// ReportError, also where it would replace what mpsprobe did not write.
WrittenReports write_reports(const std::filesystem::path& folder, const Journal& journal,
                             const Analysis& analysis);

}  // namespace mpsprobe
