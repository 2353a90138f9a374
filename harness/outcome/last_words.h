#pragma once

#include <string>
#include <string_view>

namespace mpsprobe {

/// A stable title (normalise_title) from the last words of a process that ended itself, where no
/// pattern knows them: of the last paragraph that tells of trouble, the first line that does. Lines
/// of stacks and those of mpsprobe itself are no words. Empty where nothing of that kind was
/// printed. Looks at the last 64 KiB alone. Never throws but for lack of memory; from any thread.
std::string last_words(std::string_view text);

}  // namespace mpsprobe
