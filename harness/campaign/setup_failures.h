#pragma once

#include <map>
#include <string>

#include "harness/record/trial.h"

namespace mpsprobe {

/// How often trials that are set up alike fail in set-up, and in no other way, before the rest of
/// them is given up: a library that is not found now is not found an hour later.
constexpr int kMostSetupFailures = 3;

/// Which arms of a campaign are given up. Trials are set up alike where worker, backend, variables
/// and Metal's validation are the same. Not thread safe.
class SetupFailures {
 public:
  void add(const TrialRecord& trial);

  bool given_up(const std::string& worker, const Cell& cell) const;

  /// Names them with the reason, for people; "" where none is given up.
  std::string in_words() const;

 private:
  struct Seen {
    int failures = 0;
    std::string why;
    bool alone = true;  ///< nothing but these failures, all for one reason
    bool given_up() const { return alone && failures >= kMostSetupFailures; }
  };
  std::map<std::string, Seen> seen_;  ///< by arm, in words
};

}  // namespace mpsprobe
