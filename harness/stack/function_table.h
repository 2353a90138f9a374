#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace mpsprobe {

/// The functions of one image, found by offset in logarithmic time. A LibTorch has 400,000 of them:
/// an entry is 24 bytes, and names stay where the file's string table was read to.
class FunctionTable {
 public:
  struct Entry {
    uint64_t begin = 0;  ///< offset of its first byte
    uint64_t end = 0;    ///< one past its last byte; where it is not `sized`, the most it can be
    uint32_t name = 0;   ///< where its name begins among the strings
    bool exported = false;
    bool sized = true;  ///< false: the file tells no size, and it ends where the next one begins
  };

  /// `strings` must outlive this object: names that end with a zero byte each.
  explicit FunctionTable(std::string_view strings = {}) : strings_(strings) {}

  /// Entries that are empty or without a name are left out. `finish` must follow the last one.
  void add(const Entry& entry);
  /// Of several names for one place the same is kept every time: an exported one, with the fewest
  /// leading underscores, the shortest, the first in the alphabet.
  void finish();

  /// The name of the function that `offset` lies in, as the file spells it; empty: in none.
  std::string_view find(uint64_t offset) const;
  bool empty() const { return entries_.empty(); }

 private:
  std::string_view name_at(uint32_t at) const;

  std::string_view strings_;
  std::vector<Entry> entries_;
};

}  // namespace mpsprobe
