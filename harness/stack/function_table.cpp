#include "harness/stack/function_table.h"

#include <algorithm>
#include <tuple>

namespace mpsprobe {
namespace {

// Functions can lie inside others (entry points in hand-written assembly). More than a few deep
// only in a file that was made to be slow.
constexpr int kNested = 16;

}  // namespace

std::string_view FunctionTable::name_at(uint32_t at) const {
  if (at >= strings_.size()) return {};
  const std::string_view rest = strings_.substr(at);
  const size_t length = rest.find('\0');
  return length == std::string_view::npos ? std::string_view() : rest.substr(0, length);
}

void FunctionTable::add(const Entry& entry) {
  if (entry.begin < entry.end && entry.name < strings_.size() && strings_[entry.name] != '\0') {
    entries_.push_back(entry);
  }
}

void FunctionTable::finish() {
  std::sort(entries_.begin(), entries_.end(), [this](const Entry& a, const Entry& b) {
    if (a.begin != b.begin) return a.begin < b.begin;
    const auto rank = [this](const Entry& entry) {
      const std::string_view name = name_at(entry.name);
      const size_t underscores = std::min(name.find_first_not_of('_'), name.size());
      return std::tuple(name.empty(), !entry.exported, underscores, name.size(), name, !entry.sized,
                        ~entry.end);
    };
    return rank(a) < rank(b);
  });
  size_t kept = 0;
  for (const Entry& entry : entries_) {
    if (kept > 0 && entries_[kept - 1].begin == entry.begin) {
      Entry& best = entries_[kept - 1];  // an alias: its size may be the one that is told
      if (entry.sized && (!best.sized || entry.end > best.end)) {
        best.end = entry.end;
        best.sized = true;
      }
    } else {
      entries_[kept++] = entry;
    }
  }
  entries_.resize(kept);
  entries_.shrink_to_fit();
  for (size_t i = 0; i + 1 < entries_.size(); ++i) {
    if (!entries_[i].sized) entries_[i].end = std::min(entries_[i].end, entries_[i + 1].begin);
  }
}

std::string_view FunctionTable::find(uint64_t offset) const {
  auto at =
      std::upper_bound(entries_.begin(), entries_.end(), offset,
                       [](uint64_t value, const Entry& entry) { return value < entry.begin; });
  for (int step = 0; step < kNested && at != entries_.begin(); ++step) {
    --at;
    if (offset < at->end) return name_at(at->name);
  }
  return {};
}

}  // namespace mpsprobe
