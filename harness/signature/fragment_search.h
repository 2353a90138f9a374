#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace mpsprobe {

/// Finds all occurrences of many literal fragments in one pass over a text: at each of its
/// characters only the fragments that begin with the same two are looked at. Immutable once built;
/// safe to use from any thread.
class FragmentSearch {
 public:
  static constexpr size_t kShortest = 2;  ///< characters of a fragment

  /// Fragments must be distinct, and outlive this object; a hit names one by its index.
  explicit FragmentSearch(std::vector<std::string_view> fragments)
      : fragments_(std::move(fragments)), of_pair_(size_t{1} << 16) {
    for (size_t i = 0; i < fragments_.size(); ++i) of_pair_[pair_at(fragments_[i], 0)].push_back(i);
  }

  /// Calls found(index of the fragment, where it begins, where it ends) in the order in which they
  /// begin.
  template <typename Found>
  void scan(std::string_view text, Found&& found) const {
    for (size_t i = 0; i + kShortest <= text.size(); ++i) {
      for (const size_t fragment : of_pair_[pair_at(text, i)]) {
        const std::string_view wanted = fragments_[fragment];
        if (text.substr(i).starts_with(wanted)) found(fragment, i, i + wanted.size());
      }
    }
  }

 private:
  static size_t pair_at(std::string_view text, size_t i) {
    return size_t{static_cast<uint8_t>(text[i])} << 8 | static_cast<uint8_t>(text[i + 1]);
  }

  std::vector<std::string_view> fragments_;
  std::vector<std::vector<size_t>> of_pair_;  // by the first two characters
};

}  // namespace mpsprobe
