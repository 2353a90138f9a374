#pragma once

#include <chrono>
#include <optional>

namespace mpsprobe {

/// How busy others keep the machine while this program and its children compute. One thread at a
/// time.
class MachineUse {
 public:
  /// Begins to measure.
  MachineUse();

  /// How many processors computed for others since then, on average: what the machine's processors
  /// that this one may use did, or what a host took of them, without what this process and the
  /// children that it has waited for used. Nothing where the system does not tell, and in the first
  /// tenth of a second.
  std::optional<double> processors_of_others() const;

 private:
  std::chrono::steady_clock::time_point begun_;
  std::optional<double> busy_;  ///< seconds, of all processors, since the system started
  double own_ = 0;              ///< seconds
};

}  // namespace mpsprobe
