#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace mpsprobe {

/// How often a test repeats what it does: `full`, and `few` with a sanitizer, which takes ten times
/// as long for each and is shown no other code by the rest. The whole series runs in the builds
/// without one.
constexpr int series([[maybe_unused]] int full, [[maybe_unused]] int few) {
#ifdef MPSPROBE_SANITIZED
  return few;
#else
  return full;
#endif
}

// Of simulated worlds, whose truth is known, tests look at some. MPSPROBE_WORLDS=1000 has them look
// at so many, of every kind, and print what they measured: the figures of docs/guarantees.md.

inline bool all_worlds() {
  return std::getenv("MPSPROBE_WORLDS") != nullptr;
}

inline int worlds(int usual) {
  return all_worlds() ? std::atoi(std::getenv("MPSPROBE_WORLDS")) : usual;
}

inline void measured(const std::string& row) {
  if (all_worlds()) std::printf("%s\n", row.c_str());
}

}  // namespace mpsprobe
