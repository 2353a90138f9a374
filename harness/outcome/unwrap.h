#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mpsprobe {

/// The lines as one text, those whole that a terminal or a page broke at its width, between words
/// or within them. That a text was broken shows in two lines or more that end where the next word
/// had no room, or in one that ends in column 72 or 80 and goes on in the next; a text that shows
/// nothing of the kind keeps its lines. Work is linear. Throws only for lack of memory; may be
/// called from any thread.
std::string unwrap(const std::vector<std::string_view>& lines);

}  // namespace mpsprobe
