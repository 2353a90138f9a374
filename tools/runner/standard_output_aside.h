#pragma once

#include <unistd.h>

#include <cstdio>

namespace mpsprobe {

/// What a run prints on standard output goes to standard error while this lives: standard output is
/// for the result of what started it, which a program may read. For the whole process.
class StandardOutputAside {
 public:
  StandardOutputAside() {
    std::fflush(stdout);
    kept_ = dup(STDOUT_FILENO);
    if (kept_ >= 0) dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  StandardOutputAside(const StandardOutputAside&) = delete;
  StandardOutputAside& operator=(const StandardOutputAside&) = delete;
  ~StandardOutputAside() {
    std::fflush(stdout);
    if (kept_ < 0) return;
    dup2(kept_, STDOUT_FILENO);
    close(kept_);
  }

 private:
  int kept_;
};

}  // namespace mpsprobe
