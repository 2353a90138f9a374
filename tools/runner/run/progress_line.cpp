#include "tools/runner/run/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "reports/analysis/trial_facts.h"
#include "reports/words/counted.h"
#include "reports/words/safe_text.h"
#include "tools/runner/say.h"
#include "tools/runner/screen.h"

namespace mpsprobe {
namespace {

constexpr double kPlainSeconds = 15;
constexpr double kPaintSeconds = 0.1;  // more often is read by nobody, and costs over a network
constexpr size_t kPlainWidth = 400;    // of a line in a file

std::string summary(const Progress& progress) {
  const double share = static_cast<double>(progress.done) / static_cast<double>(progress.planned);
  std::string text = fmt::format("{:3.0f}%  {} of {} trials, {} failed", share * 100, progress.done,
                                 progress.planned, progress.failures);
  if (progress.done_now > 2 && progress.done < progress.planned) {
    const auto left = static_cast<double>(progress.planned - progress.done);
    text += ", " +
            duration_in_words(progress.seconds / static_cast<double>(progress.done_now) * left) +
            " left";
  }
  return text;
}

}  // namespace

ProgressLine::ProgressLine(const CampaignHeader& header)
    : ProgressLine(header, is_screen(STDERR_FILENO)) {}

ProgressLine::ProgressLine(const CampaignHeader& header, bool terminal)
    : header_(header), terminal_(terminal), colour_(wants_colour(STDERR_FILENO)) {}

void ProgressLine::on_trial(const TrialRecord& trial, const Progress& progress) {
  if (trial.judgement.outcome != Outcome::pass) tell_failure(trial);
  update(trial, progress);
}

void ProgressLine::tell_failure(const TrialRecord& trial) {
  const Judgement& judgement = trial.judgement;
  // A cause outside the product is told in full; a title leaves paths and versions out.
  const bool titled = is_failure(judgement.outcome) && !judgement.signature.empty();
  const std::string& title = titled ? judgement.signature : judgement.detail;
  // The same failure again, in whichever cell, is counted, not told.
  if (!told_.insert(std::string(name_of(judgement.outcome)) + " " + title).second) return;
  const std::string what =
      judgement.outcome == Outcome::unsupported ? unsupported_in_words(trial) : title;
  finish();
  const std::string outcome(name_of(judgement.outcome));
  const std::string who = header_.workers.size() > 1 ? trial.worker + " " : "";
  const std::string text =
      printable(fmt::format("{}: first in {}{}", what, who, to_string(trial.cell)));
  const size_t width = terminal_ ? screen_width(STDERR_FILENO) : kPlainWidth;
  const size_t room = std::max(width, outcome.size() + 20) - outcome.size() - 2;
  const char* red = colour_ ? "\x1b[31m" : "";
  const char* plain = colour_ ? "\x1b[0m" : "";
  say(stderr, "{}{}{} {}\n", Styled{red}, outcome, Styled{plain}, shortened(text, room));
}

void ProgressLine::update(const TrialRecord& trial, const Progress& progress) {
  if (terminal_) {
    if (progress.seconds - last_painted_ < kPaintSeconds && progress.done < progress.planned)
      return;
    last_painted_ = progress.seconds;
    const std::string line = shortened(summary(progress) + "  " + to_string(trial.cell),
                                       screen_width(STDERR_FILENO) - 1);
    say(stderr, "\r\x1b[K{}", line);
    std::fflush(stderr);
  } else if ((progress.done == progress.planned && header_.settle_rate == 0) ||
             progress.seconds - last_plain_ > kPlainSeconds) {
    last_plain_ = progress.seconds;
    say(stderr, "{}\n", summary(progress));
  }
}

void ProgressLine::finish() {
  if (terminal_) say(stderr, "\r\x1b[K");
}

}  // namespace mpsprobe
