#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mpsprobe {

/// A demangled C++ function without return type, arguments, template arguments, lambdas, anonymous
/// namespaces, clones and offsets; what is kept is a subsequence of `text`. Linear. Throws only for
/// lack of memory; may be called from any thread.
std::string cxx_name(std::string_view text);

/// Length of the bracketed part at the front of `text`, brackets of every kind inside it included;
/// 0 where it has no end. "operator<", "->" and comparisons inside brackets close nothing. As
/// above.
size_t bracketed_length(std::string_view text);

}  // namespace mpsprobe
