#include "tools/runner/run/finish_report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "reports/words/safe_text.h"
#include "reports/writers/terminal.h"
#include "tools/runner/exit_code.h"
#include "tools/runner/say.h"
#include "tools/runner/screen.h"

namespace mpsprobe {

int show_run(const std::filesystem::path& folder) {
  say(stdout, "{}",
      Styled{report_terminal(
          analyse_file(folder / "journal.ndjson").analysis,
          {.colour = wants_colour(STDOUT_FILENO), .width = screen_width(STDOUT_FILENO)})});
  return kExitOk;
}

Analysis finish_report(const std::filesystem::path& folder, const Formats& formats,
                       const MakeBeside& beside) {
  auto [journal, analysis] = analyse_file(folder / "journal.ndjson");
  const auto written = write_reports(folder, journal, analysis, formats,
                                     beside ? beside(journal, analysis) : Beside());
  say(stdout, "{}",
      Styled{report_terminal(analysis, {.colour = wants_colour(STDOUT_FILENO),
                                        .width = screen_width(STDOUT_FILENO)})});
  std::string_view before = "\nreport: ";
  for (const std::filesystem::path& file : written) {
    say(stdout, "{}{}\n", before, printable(file.string()));
    before = "        ";
  }
  std::fflush(stdout);
  return analysis;
}

}  // namespace mpsprobe
