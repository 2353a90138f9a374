#pragma once

#include <string>
#include <string_view>

namespace mpsprobe {

/// Appends JSON as it is, spread over lines as json_text does at that depth, in ASCII: without a
/// tree in between, and so for little. `compact` is valid JSON without white space outside of its
/// texts, in UTF-8.
void append_indented(std::string_view compact, size_t depth, std::string& out);

}  // namespace mpsprobe
