#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/signature/rules.h"
#include "harness/stack/stack.h"

namespace mpsprobe {

/// A report of a sanitizer's: what it calls the bug, and who took part. Untrusted.
struct RaceReport {
  /// Of ThreadSanitizer's: "race", "race on vptr", "heap-use-after-free", "lock-order-inversion".
  std::string kind;
  /// Of each side the thread, whose name is what it did, "Previous write of size 8 by thread T1"
  /// without the address; without frames where the stack was lost. Who freed and allocated a block
  /// is a side in AddressSanitizer's.
  std::vector<ThreadStack> sides;
  size_t length = 0;  ///< of the text that it was read from, in bytes: kind and sides
};

/// The report that begins at the front of `text`: "ThreadSanitizer: KIND (pid=1)" and the stacks of
/// its sides, as the runtimes of gcc and clang print them. Where threads and mutexes were made, and
/// of a race where a block was allocated, is left out. Of lines as PlainText has them or as they
/// were printed. Linear; throws only for lack of memory; from any thread.
RaceReport read_race_report(std::string_view text);

/// "race: A / B" with the innermost function of each side that neither passes things on nor is this
/// project's own (Rules::own), without its namespaces, in alphabetical order; the same for one bug
/// whoever came first. Ends in kInTeardown where every side lies in a handler of exit() or a
/// destructor of a static object, and in kInOwnCode where none has code but this project's. At most
/// 160 bytes. As above.
std::string title_of_race(const RaceReport& report, const Rules& rules = Rules::standard());

constexpr std::string_view kInTeardown = ", in tear-down";
constexpr std::string_view kInOwnCode = ", in mpsprobe's own code";

}  // namespace mpsprobe
