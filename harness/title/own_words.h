#pragma once

#include <cstddef>
#include <string_view>

namespace mpsprobe {

/// The characters at the front of a line of normalised text in which a program tells who of it
/// failed, where, when and that it did, and no more: "worker 1 caught: ", "lane 3, round 5: ",
/// "[t3 i17] ", "thread=3 iter=17 ", "tile 7 lost -> ". What failed, by an operator's or another
/// library's name, and a call that the system refused are part of the message. 0 where there is
/// none. Never throws; may be called from any thread.
size_t own_words_length(std::string_view line);

/// Where the same begins at the end of a line: in "no lane left (thread 3)" behind "left". The
/// line's length where it does not. As above.
size_t own_words_at_end(std::string_view line);

}  // namespace mpsprobe
