#pragma once

#include <map>
#include <string>

#include "harness/campaign/campaign.h"

namespace mpsprobe {

/// What a person sees while a campaign runs, on standard error: on a terminal one line that updates
/// itself; otherwise a plain line from time to time. Each kind of failure is told when it first
/// comes, with the command that runs its cell alone.
class ProgressLine {
 public:
  /// `header` says with which workers and environment a cell is run again; it must outlive this.
  explicit ProgressLine(const CampaignHeader& header);

  void on_trial(const TrialRecord& trial, const Progress& progress);
  /// Takes the updating line away.
  void finish();

 private:
  void tell_failure(const TrialRecord& trial);
  void update(const TrialRecord& trial, const Progress& progress);

  const CampaignHeader& header_;
  bool terminal_;
  bool colour_;
  double last_plain_ = 0;
  std::map<std::string, size_t> told_;  // by worker, cell and signature
};

/// True where `fd` is a terminal and neither NO_COLOR nor TERM=dumb says otherwise.
bool wants_colour(int fd);

}  // namespace mpsprobe
