#pragma once

#include <map>
#include <string_view>

namespace mpsprobe {

/// The time during which at least one trial ran: of trials side by side it counts once, and pauses
/// between the pieces of a run that was resumed do not count.
class BusyTime {
 public:
  /// One trial: when it started (UTC, as TrialRecord has it) and how many seconds it took. What is
  /// no such time, as in a journal from elsewhere, is left out.
  void add(std::string_view started, double seconds);

  double seconds() const;

 private:
  std::map<double, double> spans_;  // from start to end, apart from one another
};

}  // namespace mpsprobe
