#pragma once

#include <span>
#include <string>
#include <string_view>

namespace mpsprobe {

/// Which of the known names a mistyped one is nearest to: by letters left out, added, replaced or
/// swapped (Damerau and Levenshtein, adjacent swaps), a third of them at most, without regard to
/// case; else one that begins alike. Empty where none is near; of equally near ones one that begins
/// with the same letter, else the first.
std::string_view nearest_name(std::string_view typed, std::span<const std::string_view> known);

/// The same as a piece of a message: `; did you mean "run"?`, or nothing.
std::string did_you_mean(std::string_view typed, std::span<const std::string_view> known);

/// For names that are kept as texts.
std::string did_you_mean(std::string_view typed, std::span<const std::string> known);

}  // namespace mpsprobe
