#pragma once

#include <map>
#include <string>

#include "harness/record/trial.h"

namespace mpsprobe {

/// How often in a row trials that are set up alike fail in set-up, for one reason, before the rest
/// of them is given up: a library that is not found now is not found an hour later.
constexpr int kMostSetupFailures = 3;
/// The same where it could be set up before: what was changed meanwhile, and not now and then.
constexpr int kMostLaterSetupFailures = 10;

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
    int failures = 0;  ///< in a row, for one reason
    std::string why;
    bool worked = false;
    bool given_up() const {
      return failures >= (worked ? kMostLaterSetupFailures : kMostSetupFailures);
    }
  };
  std::map<std::string, Seen> seen_;  ///< by arm, in words
};

}  // namespace mpsprobe
