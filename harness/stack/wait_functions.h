#pragma once

#include <vector>

#include "harness/stack/stack.h"

namespace mpsprobe {

/// What the functions on top of a stack say of a thread that waits.
struct WaitShown {
  Wait::Kind kind = Wait::Kind::none;  ///< none: the thread runs, or its functions have no names
  bool mutex = false;                  ///< it waits for a mutex: what an owner can be told of
  bool certain = false;                ///< by more than what all waiting is made of
  bool named = false;                  ///< one of the frames looked at has a name at all
};

/// Looks at the frames on top, up to the first function that is not one to wait in; the table of
/// those that are is data, in the implementation. `frames` are innermost first.
WaitShown wait_shown(const std::vector<StackFrame>& frames);

}  // namespace mpsprobe
