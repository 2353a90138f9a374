#pragma once

#include <string>

namespace mpsprobe {

/// A message with the words that releases and reporters use for one another made the same: what one
/// release misspelt or named otherwise, what is said of a value, "an" where it should be "a".
/// `text` is normalised, with stand-ins for its values (variable_part.h). Of use until it changes
/// nothing more. Never throws but for lack of memory; may be called from any thread.
std::string usual_spelling(std::string text);

}  // namespace mpsprobe
