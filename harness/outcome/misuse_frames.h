#pragma once

#include <string_view>
#include <vector>

#include "harness/record/process_record.h"

namespace mpsprobe {

/// The title of the misuse that a stack ends in; empty where it ends in none. The
/// functions are rows of the rules (Rules::misuses). Looks no further than
/// the first function that does more than pass things on (passing_frames.h). Never throws but for
/// lack of memory; may be called from any thread.
std::string_view misuse_title(const std::vector<StackFrame>& frames);

}  // namespace mpsprobe
