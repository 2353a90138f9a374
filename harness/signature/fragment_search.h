#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace mpsprobe {

/// Finds all occurrences of many literal fragments in one pass over a text (Aho and Corasick,
/// "Efficient string matching", 1975): one table step a character, however many fragments there
/// are and whatever the text holds. Immutable once built; safe to use from any thread.
class FragmentSearch {
 public:
  /// Fragments must be non-empty and distinct; a hit names one by its index.
  explicit FragmentSearch(const std::vector<std::string_view>& fragments);

  /// Calls found(index of the fragment, position after its last character) in order of that
  /// position, the longer fragment first where two end together.
  template <typename Found>
  void scan(std::string_view text, Found&& found) const {
    uint32_t state = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      state = next_[state * classes_ + class_of_[static_cast<unsigned char>(text[i])]];
      for (uint32_t hit = state; hit != 0; hit = shorter_hit_[hit]) {
        if (fragment_[hit] >= 0) found(static_cast<size_t>(fragment_[hit]), i + 1);
      }
    }
  }

 private:
  std::array<uint8_t, 256> class_of_{};  // 0: a byte that no fragment holds
  size_t classes_ = 1;
  std::vector<uint32_t> next_;         // state * classes_ + class -> state
  std::vector<int32_t> fragment_;      // fragment that ends in a state, or -1
  std::vector<uint32_t> shorter_hit_;  // longest proper suffix state in which a fragment ends, or 0
};

}  // namespace mpsprobe
