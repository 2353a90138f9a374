#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mpsprobe {

/// The lines as one text, those whole that a terminal or a page broke at its width, between words
/// or within them. That a text was broken shows in two lines or more that end in the last column or
/// where the next word had no room, in one that ends in a column where terminals break (70, 72, 78,
/// 80) and plainly goes on, or in an exception's message that alone had no room for its next word
/// there; a text that shows nothing of the kind keeps its lines. Broken within words is a text
/// whose pieces are mostly no words. Work is linear. Throws only for lack of memory; may be called
/// from any thread.
std::string unwrap(const std::vector<std::string_view>& lines);

}  // namespace mpsprobe
