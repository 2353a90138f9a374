#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "reports/words/safe_text.h"

namespace mpsprobe {

/// Text for XML 1.0 and HTML 5, in an element as in a quoted attribute: printable, at most `most`
/// bytes before it is escaped, with & < > " ' as entities, and without the two characters that
/// XML forbids although Unicode has them. So no "]]>" stays either. Pure; any bytes.
std::string markup(std::string_view bytes, size_t most = 400, Lines lines = Lines::join);

}  // namespace mpsprobe
