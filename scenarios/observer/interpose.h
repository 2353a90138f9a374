#pragma once

namespace mpsprobe::observer {

/// What dyld reads of an inserted library, before any code of it runs (mach-o/dyld-interposing.h):
/// it puts `ours` in the place of `original` in all images but this one. Typed, so that no cast
/// makes it something to compute at the start.
template <typename Function>
struct Interposed {
  Function ours;
  Function original;
};

}  // namespace mpsprobe::observer

/// MPSPROBE_INTERPOSE(name, ours, original): a constant of that name where dyld looks for it.
#define MPSPROBE_INTERPOSE(name, ours, original)                                            \
  __attribute__((used, section("__DATA,__interpose"))) constinit const mpsprobe::observer:: \
      Interposed<decltype(&(original))>                                                     \
          name {                                                                            \
    ours, original                                                                          \
  }
