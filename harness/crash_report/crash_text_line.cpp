#include "harness/crash_report/crash_text_line.h"

#include <algorithm>
#include <charconv>

#include "harness/crash_report/report_value.h"

namespace mpsprobe {
namespace {

using std::string_view;

/// The first word of `text`, which is taken off its front with the blanks around it.
string_view take_word(string_view& text) {
  text = trimmed(text);
  const string_view word = text.substr(0, text.find_first_of(" \t"));
  text = trimmed(text.substr(word.size()));
  return word;
}

/// "(file.cpp:12)" at the end of `text`, taken off it; only what looks like a line of a source.
std::string take_source(string_view& text) {
  if (!text.ends_with(')')) return "";
  const size_t open = text.rfind(" (");
  if (open == string_view::npos) return "";
  const string_view inside = text.substr(open + 2, text.size() - open - 3);
  const size_t colon = inside.rfind(':');
  if (colon == string_view::npos || colon == 0 || !report_number(inside.substr(colon + 1))) {
    return "";
  }
  text = trimmed(text.substr(0, open));
  return report_file_name(inside);
}

}  // namespace

std::optional<uint64_t> take_number(string_view& text) {
  uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(stop - text.data()));
  return value;
}

bool take_prefix(string_view& text, string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::optional<TextFrame> read_frame_line(string_view line) {
  line = trimmed(line);
  if (!take_number(line).has_value() || !line.starts_with(' ')) return std::nullopt;
  line = trimmed(line);
  // An image's name may hold blanks: it reaches to the address.
  size_t at = line.find(" 0x");
  at = std::min(at, line.find("\t0x"));
  if (at == string_view::npos) return std::nullopt;
  TextFrame result;
  result.frame.image = report_text(trimmed(line.substr(0, at)), report_limits::kMostNameBytes);
  line.remove_prefix(at);
  const std::optional<uint64_t> address = report_number(take_word(line));
  if (!address.has_value()) return std::nullopt;
  result.address = *address;
  result.frame.offset = *address;
  result.frame.inlined = line.ends_with(" [inlined]");
  if (result.frame.inlined) line.remove_suffix(string_view(" [inlined]").size());
  result.frame.source = take_source(line);
  const size_t plus = line.rfind(" + ");
  const string_view symbol = trimmed(line.substr(0, plus));
  if (plus != string_view::npos && symbol.starts_with("0x")) {
    // "0x10dc56000 + 8801": the image's load address, no symbol.
    const std::optional<uint64_t> base = report_number(symbol);
    if (base.has_value() && *base <= *address) result.frame.offset = *address - *base;
    return result;
  }
  if (symbol != "???") {
    result.frame.function = report_text(symbol, report_limits::kMostFunctionBytes);
  }
  return result;
}

std::optional<TextImage> read_image_line(string_view line) {
  TextImage image;
  const std::optional<uint64_t> begin = report_number(take_word(line));
  const string_view dash = take_word(line);
  const std::optional<uint64_t> end = report_number(take_word(line));
  if (!begin.has_value() || dash != "-" || !end.has_value()) return std::nullopt;
  image.begin = *begin;
  image.end = *end;
  const size_t close = line.rfind("> ");
  const size_t open = close == string_view::npos ? close : line.rfind('<', close);
  if (open == string_view::npos) {
    image.name = report_file_name(take_word(line));
    return image;
  }
  image.id = report_image_id(line.substr(open + 1, close - open - 1));
  image.name = report_file_name(trimmed(line.substr(close + 2)));
  return image;
}

}  // namespace mpsprobe
