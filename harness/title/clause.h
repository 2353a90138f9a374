#pragma once

#include <string>
#include <string_view>

namespace mpsprobe {

/// The part of a line that says what went wrong, without what stands around it: the date, level,
/// name and process of a log, a progress bar, the place in the source, the type of the exception
/// and the words of the runtime that caught it, the domain of an NSError, what a program says of
/// its own parts in front and behind (own_words.h), advice. Where less than a few words would be
/// left, the wrapper stays; of a KeyError that names nothing but its key the type alone. `line` is
/// text as normalise_text gives it; the result is a part of it. Linear in the line.
std::string_view decisive_clause(std::string_view line);

/// The title of a message of unknown form: its decisive clause, normalised.
std::string clause_title(std::string_view message);

}  // namespace mpsprobe
