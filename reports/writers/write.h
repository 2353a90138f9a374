#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reports/analysis/analysis.h"
#include "reports/writers/atomic_file.h"
#include "reports/writers/beside.h"

namespace mpsprobe {

/// A form of the report: one row of the table that a new one is added to. A format may have several
/// files, each a row.
struct Writer {
  std::string_view format;  ///< "json"
  std::string_view file;    ///< its name in the folder of the run
  /// What the beginning of such a file has in every version, and no other file.
  std::string_view mark;
  void (*write)(const Journal&, const Analysis&, const Beside&, const Sink&) = nullptr;
};

/// All of them, the one that people read first. Static storage.
std::span<const Writer> writers();

/// Some of them, in the order of the table.
using Formats = std::vector<const Writer*>;

/// What is written where nobody asks for anything: Markdown and JSON.
Formats default_formats();

/// The writers of a list like "html,junit". Throws InputError for a name that none has.
Formats formats_named(std::string_view list);

/// Every format once.
std::vector<std::string> format_names();

/// Throws ReportError where `folder` holds a file of such a writer's name that no mpsprobe wrote:
/// it would be replaced.
void refuse_foreign_reports(const std::filesystem::path& folder,
                            const Formats& formats = default_formats());

/// Whether one of these forms shows a run beside something else.
bool shows_beside(const Formats& formats);

/// Writes these forms into `folder`, which is created where it is missing, and gives their paths in
/// the order of the table. Throws ReportError, also where it would replace what mpsprobe did not
/// write.
std::vector<std::filesystem::path> write_reports(const std::filesystem::path& folder,
                                                 const Journal& journal, const Analysis& analysis,
                                                 const Formats& formats = default_formats(),
                                                 const Beside& beside = {});

}  // namespace mpsprobe
