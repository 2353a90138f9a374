#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace mpsprobe {

/// The words of an enumeration whose values are 0, 1, 2 ..., in its order: what files and messages
/// say. Specialised beside the enumeration that has them.
template <typename Enum>
inline constexpr auto kWordsOf = nullptr;

template <typename Enum>
concept HasWords = requires {
  kWordsOf<Enum>.size();
};

/// The word of a value; of what is none, which hostile memory may hold, the last.
template <HasWords Enum>
constexpr std::string_view name_of(Enum value) {
  return kWordsOf<Enum>[std::min(static_cast<size_t>(value), kWordsOf<Enum>.size() - 1)];
}

/// The value that has this word.
template <HasWords Enum>
constexpr std::optional<Enum> named(std::string_view word) {
  const auto& words = kWordsOf<Enum>;
  const auto at = std::find(words.begin(), words.end(), word);
  if (at == words.end()) return std::nullopt;
  return static_cast<Enum>(at - words.begin());
}

}  // namespace mpsprobe
