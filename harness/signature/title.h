#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "harness/signature/rules.h"

namespace mpsprobe {

constexpr size_t kLongestTitle = 160;  ///< in bytes

/// A title, and the names of the rows that made it, in order.
struct Titled {
  std::string title;
  std::vector<std::string_view> why;
  bool known = false;  ///< false: recognised by its form only, the title is made from the text
  bool vague = false;  ///< of last_words() alone: the line tells of no trouble
};

/// The title of a message: the same for the same bug on every chip, in every build and run. One
/// pass over its first line (and the next one where that only announces it): the masks are left
/// out, then what follows the sixth word that names something. At most kLongestTitle of printable
/// text, ASCII but for letters of other scripts in UTF-8, linear in the message. Throws only for
/// lack of memory; from any thread.
Titled title_of(std::string_view message, const Rules& rules = Rules::standard());

/// The same of a message that may have come through others, who put words in front of it: without
/// the leads, as long as what is left says anything.
Titled title_behind_leads(std::string_view message, const Rules& rules = Rules::standard());

/// Whether a word only leads on to others within a sentence: "of", "the", "must".
bool leads_on(std::string_view word);

}  // namespace mpsprobe
