#include "tools/runner/run/finish_report.h"

#include <fmt/format.h>

#include "reports/words/safe_text.h"
#include "reports/writers/forms.h"
#include "tools/runner/exit_code.h"
#include "tools/runner/say.h"
#include "tools/runner/screen.h"

namespace mpsprobe {
namespace {

void print(const Analysis& analysis, std::FILE* stream) {
  const int fd = fileno(stream);
  say(stream, "{}",
      Styled{report_terminal(analysis, {.colour = wants_colour(fd), .width = screen_width(fd)})});
}

}  // namespace

int show_run(const std::filesystem::path& folder) {
  print(analyse_file(folder / "journal.ndjson").analysis, stdout);
  return kExitOk;
}

Analysis finish_report(const std::filesystem::path& folder, const Formats& formats,
                       const MakeBeside& beside, std::FILE* stream) {
  auto [journal, analysis] = analyse_file(folder / "journal.ndjson");
  const auto written = write_reports(folder, journal, analysis, formats,
                                     beside ? beside(journal, analysis) : Beside());
  print(analysis, stream);
  std::string_view before = "\nreport: ";
  for (const std::filesystem::path& file : written) {
    say(stream, "{}{}\n", before, printable(file.string()));
    before = "        ";
  }
  std::fflush(stream);
  return analysis;
}

}  // namespace mpsprobe
