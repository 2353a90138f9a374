#include "harness/outcome/interleaved.h"

#include <algorithm>

#include "harness/text/ascii.h"

namespace mpsprobe {
namespace {

constexpr size_t kFarthest = 4096;

// Without numbers.
std::string shape_of(std::string_view line) {
  std::string shape;
  for (char c : line) {
    if (!ascii::digit(c)) {
      shape += c;
    } else if (!shape.ends_with('#')) {
      shape += '#';
    }
  }
  return shape;
}

std::string_view behind_what(std::string_view line) {
  constexpr std::string_view kWhat = "what():";
  if (!line.starts_with(kWhat)) return line;
  line.remove_prefix(kWhat.size());
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return line;
}

}  // namespace

OtherLines::OtherLines(const Reader& reader, size_t position) : reader_(reader) {
  // No further than the exception before: all of them together look at each line once.
  const size_t before = position == 0 ? std::string_view::npos
                                      : reader.text().rfind("terminate called", position - 1);
  const size_t nearest = position > kFarthest ? position - kFarthest : 0;
  const size_t first = before == std::string_view::npos ? nearest : std::max(nearest, before);
  for (size_t begin = first; begin < position;) {
    const size_t end = reader.break_at(begin, position);
    add(reader.text().substr(begin, end - begin));
    begin = end + 1;
  }
}

void OtherLines::add(std::string_view line) {
  // A word alone may be anything.
  if (line.find(' ') != std::string_view::npos) shapes_.insert(shape_of(line));
}

bool OtherLines::has(std::string_view line) const {
  return shapes_.contains(shape_of(line));
}

// "lanes::Errorround 4 of 9": the exception's type, and what another thread printed behind it.
bool OtherLines::ends_in_one(std::string_view line) const {
  constexpr size_t kLongestType = 64;
  const size_t most = std::min(line.size(), kLongestType);
  for (size_t i = 0; i < most && (ascii::word(line[i]) || line[i] == ':'); ++i) {
    if (i > 0 && has(line.substr(i))) return true;
  }
  return false;
}

std::optional<ReadText> OtherLines::message_behind(size_t from) const {
  const size_t stop = std::min(reader_.text().size(), from + kFarthest);
  for (size_t begin = from; begin < stop;) {
    const size_t end = reader_.break_at(begin, stop);
    std::string_view line = reader_.text().substr(begin, end - begin);
    begin = end + 1;
    if (line.starts_with("terminate called")) break;
    line = behind_what(line.substr(std::min(line.find_first_not_of(" '"), line.size())));
    const bool type = line.ends_with('\'') && line.find(' ') == std::string_view::npos;
    if (line.empty() || type || has(line) || ends_in_one(line)) continue;
    return ReadText{std::string(line), end};
  }
  return std::nullopt;
}

}  // namespace mpsprobe
