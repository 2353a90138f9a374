#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/record/process_record.h"
#include "harness/signature/frames.h"

namespace mpsprobe {

/// Faults below this address come of a null pointer and an offset within an object.
constexpr uint64_t kNearNull = 64 << 10;
/// A fault this close to the stack pointer is a stack that ran over: nothing else that a program
/// touches lies there and is not mapped.
constexpr uint64_t kNearStack = 64 << 10;

/// A title that no text gives, and what it rests on: of a death by signal, of a hang.
struct PlaceTitle {
  std::string title;
  Basis basis = Basis::place;
  std::vector<std::string> why;  ///< the frames that were passed over, by the rows that say so
  bool python = false;           ///< by Python's frame, in place of the machine's
};

/// "bad access in FUNCTION" for SIGSEGV and SIGBUS (macOS gives either for one and the same bad
/// address), "trap in", "illegal instruction in", "arithmetic error in", "abort in", "misuse of a
/// guarded port or descriptor in"; "stack overflow in" with the function that recurses, where the
/// stack pointer or the crash report shows that the stack ran over; "death inside malloc or free"
/// where the innermost code is the allocator's: thin, since either the heap was damaged before, by
/// anybody, or the caller gave a bad pointer. A death in a function that a library ends the
/// process in for one misuse alone is titled as the library's text (misuse_title). Frames of the
/// handler first, then those of the system's crash report. Without a function the title says that
/// it is thin, and names the image and where the process was; where faulthandler printed the Python
/// frame of the thread, that is the place. A death outside the run says so.
/// Pure; never throws but for lack of memory.
PlaceTitle crash_title(const ProcessRecord& process, int signal);

/// The address that the process died of, where it is known.
std::optional<uint64_t> fault_address(const ProcessRecord& process);

/// What the frames of the faulting thread say, as crash_title() uses them.
StackTitle stack_title(const ProcessRecord& process);

/// The title of the misuse of a library that a stack ends in; empty where it ends in none. The
/// functions are rows of the rules (Rules::misuses). Looks no further than the first function that
/// does more than pass things on (rules.h).
std::string_view misuse_title(const std::vector<StackFrame>& frames);

}  // namespace mpsprobe
