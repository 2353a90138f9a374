#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "scenarios/observer/forwarding/encoding.h"
#include "scenarios/observer/forwarding/frame.h"

namespace mpsprobe::observer {

/// A function of any signature.
using Function = void (*)();

/// One call of a hooked method. Lives on the calling thread's stack.
struct Call {
  Frame& frame;
  const CallShape& shape;
  const void* method;  ///< what forward_to was given with it
  void* self;
  uintptr_t result = 0;     ///< the first register of the result, in `leave`
  void* context = nullptr;  ///< the visitor's own, from `enter` to `leave`
  uint64_t mark = 0;        ///< the same
  void* thread = nullptr;   ///< the same
  void* known = nullptr;    ///< the same
  bool thrown = false;      ///< an exception leaves the method, in `leave`

  /// The argument after self and _cmd of that number, from 0 on. Right where those up to it are all
  /// integers, pointers or structures of two such.
  uintptr_t argument(int number) const {
    const int at = number + 2 + (shape.memory_result ? 1 : 0);
    return at < kIntegerArguments ? frame.integers[static_cast<size_t>(at)]
                                  : frame.stack[at - kIntegerArguments];
  }
};

/// Told of every call of every hooked method, before and after the original runs. They must not
/// throw. `leave` is called where the method throws, too.
struct Visitor {
  void (*enter)(Call&);
  void (*leave)(Call&);
};

constexpr size_t kStubs = 4096;

/// Sets who is told, once, before the first stub is called.
void visit_calls(const Visitor& visitor);

/// A function of the same signature as `original` that tells the visitor and calls it; null where
/// all kStubs are taken or `types` (as the runtime has them) cannot be forwarded. It stays for
/// ever. Any thread.
Function forward_to(Function original, std::string_view types, const void* method);

}  // namespace mpsprobe::observer
