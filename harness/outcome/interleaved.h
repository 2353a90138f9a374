#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "harness/outcome/reading.h"

namespace mpsprobe {

/// Lines that other threads print again and again, such as "[t2] iter 85 ok": those that stand in
/// front of what a runtime says of an exception. They may stand within it as well, since runtimes
/// write the type, " what(): " and the message one by one. Lines count as the same whatever numbers
/// they hold. Never throws but for lack of memory; of use in one thread.
class OtherLines {
 public:
  /// Looks at the last 4 KiB in front of `position`.
  OtherLines(const Reader& reader, size_t position);

  /// One more of them.
  void add(std::string_view line);

  bool has(std::string_view line) const;

  /// The first line behind `from`, within 4 KiB, that is none of theirs and no part of the type:
  /// the message, as far as its first line. Nothing where there is none.
  std::optional<ReadText> message_behind(size_t from) const;

 private:
  bool ends_in_one(std::string_view line) const;

  const Reader& reader_;
  std::set<std::string> shapes_;
};

}  // namespace mpsprobe
