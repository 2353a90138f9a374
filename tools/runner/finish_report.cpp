#include "tools/runner/finish_report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "reports/json.h"
#include "reports/markdown.h"
#include "reports/terminal.h"
#include "reports/write.h"
#include "tools/runner/progress_line.h"
#include "tools/runner/say.h"

namespace mpsprobe {

Analysis finish_report(const std::filesystem::path& folder) {
  const Journal journal = read_journal(folder / "journal.ndjson");
  Analysis analysis = analyse(journal);
  const WrittenReports written = write_reports(folder, journal, analysis);
  say(stdout, "{}\nreport: {}\n        {}\n",
      report_terminal(analysis, {.colour = wants_colour(STDOUT_FILENO)}), written.markdown.string(),
      written.json.string());
  std::fflush(stdout);
  return analysis;
}

}  // namespace mpsprobe
