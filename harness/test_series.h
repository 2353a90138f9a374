#pragma once

namespace mpsprobe {

/// How often a test repeats what it does: `full`, and `few` with a sanitizer, which takes ten times
/// as long for each and is shown no other code by the rest. The whole series runs in the builds
/// without one.
constexpr int series(int full, [[maybe_unused]] int few) {
#ifdef MPSPROBE_SANITIZED
  return few;
#else
  return full;
#endif
}

}  // namespace mpsprobe
