#pragma once

#ifdef __linux__
#include <sys/personality.h>
#endif

namespace mpsprobe {

/// While it lives, programs that this thread starts lie at the same addresses each time, as
/// `setarch -R` has it: runtimes of ThreadSanitizer older than 2024 do not start where the kernel
/// spreads addresses wider than they know (vm.mmap_rnd_bits above 28). Does nothing where a sandbox
/// forbids it, and on macOS, where programs need none of it.
class FixedAddresses {
 public:
#ifdef __linux__
  explicit FixedAddresses(bool wanted) : before_(wanted ? personality(kAsk) : -1) {
    if (before_ != -1) personality(static_cast<unsigned long>(before_) | ADDR_NO_RANDOMIZE);
  }
  ~FixedAddresses() {
    if (before_ != -1) personality(static_cast<unsigned long>(before_));
  }
#else
  explicit FixedAddresses(bool) {}
#endif
  FixedAddresses(const FixedAddresses&) = delete;
  FixedAddresses& operator=(const FixedAddresses&) = delete;

#ifdef __linux__
 private:
  static constexpr unsigned long kAsk = 0xffffffff;
  int before_;  ///< -1: unchanged
#endif
};

}  // namespace mpsprobe
