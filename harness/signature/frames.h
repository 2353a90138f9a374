#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/stack/stack.h"

namespace mpsprobe {

/// What the frames of one thread say about whose failure it is, the strongest last.
struct StackTitle {
  enum class Kind : uint8_t {
    none,      ///< no frames, or none that says anything
    unnamed,   ///< the first frame that counts has no function: `image` is all that is known
    passing,   ///< only functions that pass things on: `function` is the first of them
    heap,      ///< inside malloc: damaged earlier, perhaps by others, or given a bad pointer
    entry,     ///< no function, but `function` of the same image is what called it
    function,  ///< `function` is the first that counts
  };
  Kind kind = Kind::none;
  std::string function;          ///< normalised; of `heap`: who called, "" where that is not known
  std::string image;             ///< normalised; of the frame that `kind` speaks of
  std::vector<std::string> why;  ///< the frames that were passed over, as their rows write them
  /// Of what they say, whatever was passed over.
  friend bool operator==(const StackTitle& a, const StackTitle& b) {
    return a.kind == b.kind && a.function == b.function && a.image == b.image;
  }
};

/// The frame that titles a failure: the innermost one that does not merely pass things on
/// (rules.h). What stands above a signal trampoline is a handler at work and is left out.
/// A frame without a function in an image that is not the system's ends the search but for the
/// function that its image was entered by: what lies below that may be anybody. Frames as in a
/// ThreadStack, innermost first, inlined ones included. Linear in the frames, of which the first
/// 1024 are looked at; never throws but for lack of memory.
StackTitle title_of_stack(const std::vector<StackFrame>& frames);

/// Whether an image is Python's source, as stacks of its functions have it (written_stacks.h).
bool in_python(std::string_view image);

/// The function that recurses, where functions that repeat make up most of a deep stack (32 frames
/// or more); "" where none does. Of functions that call one another in turn the first in the
/// alphabet, which is the same wherever the stack was cut.
std::string recursive_function(const std::vector<StackFrame>& frames);

}  // namespace mpsprobe
