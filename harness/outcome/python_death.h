#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/stack/stack.h"

namespace mpsprobe {

// What Python's faulthandler printed, of the thread that died ("Current thread") where nothing else
// is said. All look at the last 64 KiB of `printed`, are linear in it, throw only for lack of
// memory, and may be called from any thread.

/// Of all threads, in the order of the text. None is without frames.
std::vector<ThreadStack> python_threads(std::string_view printed);

/// Its frames, innermost first: the function and, as `source`, the file and the line. At most 100.
std::vector<StackFrame> python_frames(std::string_view printed);

/// "_take_lane", and with the file where the name alone says little: "forward (linear.py)".
std::string python_place(std::string_view function, std::string_view file);

/// Where Python was: the function of the innermost frame, "_take_lane", and with the file where the
/// name alone says little: "forward (linear.py)". Empty where no frame was printed.
std::string python_place(std::string_view printed);

/// What was printed before faulthandler's stacks, with the line that begins them: "Fatal Python
/// error: ...". All of it where there are none.
std::string_view before_python_stacks(std::string_view printed);

/// Whether the thread was collecting garbage.
bool python_collected_garbage(std::string_view printed);

}  // namespace mpsprobe
