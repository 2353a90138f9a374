#pragma once

#include <set>
#include <string>

#include "harness/campaign/campaign.h"

namespace mpsprobe {

/// What a person sees while a campaign runs, on standard error: on a terminal one line that updates
/// itself, ten times a second at most; otherwise a plain line from time to time. Each kind of
/// failure is told in one line when it first comes; what to do about it stands in the summary.
class ProgressLine {
 public:
  /// `header` says which workers there are; it must outlive this.
  explicit ProgressLine(const CampaignHeader& header);
  /// `terminal`: whether standard error takes a line back.
  ProgressLine(const CampaignHeader& header, bool terminal);

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
  double last_painted_ = -1;
  std::set<std::string> told_;  // outcomes and what is said of them
};

}  // namespace mpsprobe
