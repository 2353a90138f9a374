#include "scenarios/selftest/misbehaviour.h"

#include <unistd.h>

#include <cstdlib>
#include <vector>

namespace mpsprobe {

void Misbehaviour::happen(int thread, int threads) const {
  if (!printed.empty() && write(STDERR_FILENO, printed.data(), printed.size()) >= 0) std::abort();
  if (act_together != nullptr) {
    act_together(thread, threads);
  } else if (act != nullptr) {
    act();
  }
}

std::span<const Misbehaviour> misbehaviours() {
  static const std::vector<Misbehaviour> kAll = [] {
    std::vector<Misbehaviour> all;
    for (const auto part :
         {faults::faulting(), faults::hanging(), noise::noisy(), planted::racing()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return kAll;
}

}  // namespace mpsprobe
