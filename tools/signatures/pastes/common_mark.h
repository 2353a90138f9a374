#pragma once

#include <string_view>
#include <vector>

namespace mpsprobe {

/// Takes away what stands in front of every line, three or more: a word and a colon or bracket, of
/// no function's form ("ERROR: ", "[pool] "); and the number in front of three lines or more that
/// stand together ("12: ", as ctest marks a test's output). And what a page puts in front of all
/// lines: "> ", spaces or tabs. Work is linear. Throws only for lack of memory; may be called from
/// any thread.
void drop_common_mark(std::vector<std::string_view>& lines);

}  // namespace mpsprobe
