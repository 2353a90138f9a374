#include "tools/runner/run/progress_line.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "harness/campaign/rerun.h"
#include "reports/words/text.h"
#include "tools/runner/say.h"

namespace mpsprobe {
namespace {

constexpr double kPlainSeconds = 15;

std::string duration(double seconds) {
  const long whole = std::lround(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  return fmt::format("{}:{:02} h", whole / 3600, whole % 3600 / 60);
}

size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

std::string summary(const Progress& progress) {
  const double share = static_cast<double>(progress.done) / static_cast<double>(progress.planned);
  std::string text = fmt::format("{:3.0f}%  {} of {} trials, {} failed", share * 100, progress.done,
                                 progress.planned, progress.failures);
  if (progress.done_now > 2 && progress.done < progress.planned) {
    const auto left = static_cast<double>(progress.planned - progress.done);
    text +=
        ", " + duration(progress.seconds / static_cast<double>(progress.done_now) * left) + " left";
  }
  return text;
}

bool is_dumb() {
  const char* term = std::getenv("TERM");
  return term != nullptr && std::string_view(term) == "dumb";
}

/// The command that runs one cell again as it ran here.
std::string again(const CampaignHeader& header, const TrialRecord& trial) {
  std::string path;
  for (const WorkerInfo& worker : header.workers) {
    if (worker.name == trial.worker) path = worker.path;
  }
  return shell_command(rerun_arguments(header, trial.worker, path, to_string(trial.cell)));
}

}  // namespace

bool wants_colour(int fd) {
  const char* no_colour = std::getenv("NO_COLOR");
  return isatty(fd) == 1 && (no_colour == nullptr || *no_colour == '\0') && !is_dumb();
}

ProgressLine::ProgressLine(const CampaignHeader& header)
    : header_(header),
      terminal_(isatty(STDERR_FILENO) == 1 && !is_dumb()),
      colour_(wants_colour(STDERR_FILENO)) {}

void ProgressLine::on_trial(const TrialRecord& trial, const Progress& progress) {
  if (trial.judgement.outcome != Outcome::pass) tell_failure(trial);
  update(trial, progress);
}

void ProgressLine::tell_failure(const TrialRecord& trial) {
  const std::string cell = to_string(trial.cell);
  const Judgement& judgement = trial.judgement;
  // The same failure of the same cell again is counted, not told.
  if (++told_[trial.worker + " " + cell + " " + judgement.signature] > 1) return;
  finish();
  const char* red = colour_ ? "\x1b[31m" : "";
  const char* plain = colour_ ? "\x1b[0m" : "";
  // A cause outside the product is told in full; a title leaves paths and versions out.
  const bool titled = is_failure(judgement.outcome) && !judgement.signature.empty();
  const std::string& what = titled ? judgement.signature : judgement.detail;
  const std::string who = header_.workers.size() > 1 ? trial.worker + " " : "";
  say(stderr, "{}{}{} {}{}: {}\n    again: {}\n", red, name_of(judgement.outcome), plain, who, cell,
      shortened(printable(what), 400), printable(again(header_, trial)));
}

void ProgressLine::update(const TrialRecord& trial, const Progress& progress) {
  if (terminal_) {
    const std::string line =
        shortened(summary(progress) + "  " + to_string(trial.cell), terminal_width() - 1);
    say(stderr, "\r\x1b[K{}", line);
    std::fflush(stderr);
  } else if (progress.done == progress.planned || progress.seconds - last_plain_ > kPlainSeconds) {
    last_plain_ = progress.seconds;
    say(stderr, "{}\n", summary(progress));
  }
}

void ProgressLine::finish() {
  if (terminal_) say(stderr, "\r\x1b[K");
}

}  // namespace mpsprobe
