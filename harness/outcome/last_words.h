#pragma once

#include <string>
#include <string_view>

namespace mpsprobe {

/// A stable title (normalise_title) from the last words of a process that ended itself, where no
/// pattern knows them: of the last paragraph that tells of trouble, the first line that does; where
/// none does, the last line that says something and is no progress. Without the program's own name
/// (program_name.h). Lines of stacks and those of mpsprobe itself, warnings and what a test runner
/// counts are no words. Empty where nothing of that kind was printed. Looks at the last 64 KiB
/// alone. Never throws but for lack of memory; from any thread.
std::string last_words(std::string_view text);

}  // namespace mpsprobe
