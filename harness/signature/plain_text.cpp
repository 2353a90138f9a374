#include "harness/signature/plain_text.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "harness/signature/shape.h"
#include "harness/wire/ascii.h"

namespace mpsprobe {
namespace {

// What stands for a character beyond ASCII in matching, beside its like in ASCII.
constexpr char kItself = '\x01';
constexpr char kNothing = '\0';

struct Range {
  uint32_t first;
  uint32_t last;
  char as;
};

// In the order of the codes. Letters stay: without them, messages in most languages were one. They
// are Latin to Myanmar and on, Greek and Vietnamese with marks, kana, Bopomofo, Hangul,
// ideographs, Arabic forms and half-width kana. Quotes of all kinds are one, and so are blanks,
// what frames and progress bars are drawn with, and the dots beside a terminal.
constexpr Range kRanges[] = {
    {0x80, 0xa0, ' '},          {0xab, 0xab, '\''},        {0xad, 0xad, kNothing},
    {0xb4, 0xb4, '\''},         {0xb7, 0xb7, ' '},         {0xbb, 0xbb, '\''},
    {0xc0, 0xd6, kItself},      {0xd8, 0xf6, kItself},     {0xf8, 0x1fff, kItself},
    {0x200b, 0x200f, kNothing}, {0x2018, 0x201f, '\''},    {0x2028, 0x2029, ' '},
    {0x202a, 0x202e, kNothing}, {0x2039, 0x203a, '\''},    {0x2500, 0x259f, ' '},
    {0x3000, 0x3000, ' '},      {0x3001, 0x3001, ','},     {0x3002, 0x3002, '.'},
    {0x3005, 0x3007, kItself},  {0x300a, 0x300f, '\''},    {0x3041, 0x30fa, kItself},
    {0x30fb, 0x30fb, ' '},      {0x30fc, 0x318e, kItself}, {0x31a0, 0x31ff, kItself},
    {0x3400, 0xd7ff, kItself},  {0xf900, 0xfdff, kItself}, {0xfe70, 0xfefe, kItself},
    {0xfeff, 0xfeff, kNothing}, {0xff66, 0xffdc, kItself}, {0x10000, 0x1efff, kItself},
    {0x20000, 0x3ffff, kItself}};

char plain(uint32_t code) {
  if (code >= 0xff01 && code <= 0xff5e) return static_cast<char>(code - 0xfee0);  // full width
  const auto* const range = std::ranges::lower_bound(kRanges, code, {}, &Range::last);
  return range != std::end(kRanges) && code >= range->first ? range->as : '?';
}

class Writer {
 public:
  explicit Writer(PlainText& result) : result_(result) {}

  void put(char c, size_t origin) {
    if (c == '\0') return;
    if (c == '\n') {
      pending_ = false;
      append('\n', origin);
    } else if (c == ' ') {
      if (!pending_) space_origin_ = origin;
      pending_ = true;
    } else {
      if (pending_) append(' ', space_origin_);
      pending_ = false;
      append(c, origin);
    }
  }

 private:
  void append(char c, size_t origin) {
    result_.text.push_back(c);
    result_.origin.push_back(origin);
  }

  PlainText& result_;
  bool pending_ = false;
  size_t space_origin_ = 0;
};

void append(Writer& out, std::string_view text, size_t base) {
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    size_t bytes = 1;
    if (c == '\x1b') {
      bytes = terminal_escape_length(text, i);
    } else if (c == '\r' && text.substr(i + 1).starts_with('\n')) {
      // The line break counts.
    } else if (c == '\n' || c == '\r') {
      out.put('\n', base + i);
    } else if (byte <= 0x20 || byte == 0x7f) {
      out.put(' ', base + i);
    } else if (c == '`' || c == '"') {
      out.put('\'', base + i);
    } else if (byte < 0x80) {
      out.put(c, base + i);
    } else if (const Character character = character_at(text, i); character.bytes == 0) {
      out.put('?', base + i);
    } else {
      bytes = character.bytes;
      const char as = plain(character.code);
      if (as != kItself) out.put(as, base + i);
      for (size_t k = 0; as == kItself && k < bytes; ++k) out.put(text[i + k], base + i + k);
    }
    i += bytes;
  }
}

// Of the bar that is drawn at text[i]; 0 where there is none.
size_t bar_length(std::string_view text, size_t i, std::span<const Mask> noise) {
  const bool may =
      (ascii::digit(text[i]) || text[i] == '?') && (i == 0 || !ascii::digit(text[i - 1]));
  if (!may) return 0;
  for (const Mask& bar : noise) {
    if (const auto match = bar.shape.match(text, i)) return match->end - i;
  }
  return 0;
}

}  // namespace

Character character_at(std::string_view text, size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) return {first, 1};
  // None that is longer than it has to be, whatever it would stand for.
  static const Shape kCharacter(
      R"([\xc2-\xdf][\x80-\xbf]|\xed[\x80-\x9f][\x80-\xbf]|)"
      R"((?:\xe0[\xa0-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf])[\x80-\xbf]|)"
      R"((?:\xf0[\x90-\xbf]|[\xf1-\xf3][\x80-\xbf]|\xf4[\x80-\x8f])[\x80-\xbf]{2})");
  const auto character = kCharacter.match(text, at);
  if (!character) return {};
  const size_t bytes = character->end - at;
  char32_t code = first & (0xffU >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    code = code << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3fU);
  }
  return {code, bytes};
}

size_t terminal_escape_length(std::string_view text, size_t at) {
  // A string inside an escape (a window title, a link) that goes on for longer, or over a line's
  // end, is none: a real one does not.
  static const Shape kEscape(
      R"(\x1b(?:\[(?:[ -?]{0,509}[@-~])?|[]P^_X](?:[^\a\x1b\n]{0,509}(?:\a|\x1b\\|(?=\x1b)))?|[ -~])?)");
  const auto escape = kEscape.match(text, at);
  return escape ? escape->end - at : 1;
}

size_t PlainText::line_begin(size_t at, size_t farthest) const {
  const size_t limit = at > farthest ? at - farthest : 0;
  while (at > limit && text[at - 1] != '\n') --at;
  return at;
}

size_t PlainText::line_end(size_t at) const {
  return std::min(text.find('\n', at), text.size());
}

PlainText plain_text(std::string_view text, size_t most) {
  PlainText result;
  result.text.reserve(std::min(text.size(), most));
  result.origin.reserve(std::min(text.size(), most) + 1);
  Writer out(result);
  if (text.size() <= most) {
    append(out, text, 0);
  } else {
    const size_t half = most / 2;
    append(out, text.substr(0, half), 0);
    out.put('\n', half);
    append(out, text.substr(text.size() - half), text.size() - half);
  }
  result.origin.push_back(text.size());
  return result;
}

PlainText plain_text(std::string_view text, size_t most, std::span<const Mask> noise) {
  PlainText plain = plain_text(text, most);
  PlainText result;
  result.text.reserve(plain.text.size());
  result.origin.reserve(plain.origin.size());
  size_t line = 0;  // where the result's last line begins
  for (size_t i = 0; i < plain.text.size();) {
    const size_t length = bar_length(plain.text, i, noise);
    if (length == 0) {
      if (plain.text[i] == '\n') line = result.text.size() + 1;
      result.text += plain.text[i];
      result.origin.push_back(plain.origin[i++]);
      continue;
    }
    // "Epoch 3: " in front of a bar says what it counts.
    const std::string_view name = std::string_view(result.text).substr(line);
    static const Shape kName("[\\w _.-]*:? ?$");
    if (kName.match(name, 0) && (name.ends_with(": ") || name == " ")) {
      result.text.resize(line);
      result.origin.resize(line);
    }
    i += length;
    const bool empty = result.text.size() == line && line > 0;
    if (empty && ascii::at(plain.text, i) == '\n') ++i;
  }
  result.origin.push_back(text.size());
  return result;
}

}  // namespace mpsprobe
