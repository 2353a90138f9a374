#include "harness/signature/plain_text.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "harness/signature/ascii.h"
#include "harness/signature/shape.h"

namespace mpsprobe {
namespace {

constexpr char kEscape = '\x1b';
// Strings inside a terminal escape (a window title, a link) that go on for longer are no escape.
constexpr size_t kLongestEscape = 512;

struct Character {
  uint32_t code = 0;
  size_t bytes = 0;  // 0: broken
};

Character decode(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) -> uint32_t {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0;
  };
  const uint32_t first = byte(0);
  const size_t bytes = first >= 0xf0 && first <= 0xf4  ? 4
                       : first >= 0xe0 && first < 0xf0 ? 3
                       : first >= 0xc2 && first < 0xe0 ? 2
                                                       : 0;
  if (bytes == 0) return {};
  uint32_t code = first & (0xffU >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return {};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  // Longer than it has to be: no character, whatever it would stand for.
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[bytes]) return {};
  return {code, bytes};
}

// Letters beyond ASCII, kept as they are: without them, messages in most languages were one.
bool is_letter(uint32_t code) {
  struct Range {
    uint32_t first;
    uint32_t last;
  };
  // Latin to Myanmar and on, but for signs; Greek and Vietnamese with marks; kana, Bopomofo,
  // Hangul, ideographs; Arabic forms; half-width kana; the ideographs of the second plane.
  constexpr Range kLetters[] = {{0xc0, 0xd6},     {0xd8, 0xf6},       {0xf8, 0x1fff},
                                {0x3005, 0x3007}, {0x3041, 0x318e},   {0x31a0, 0x31ff},
                                {0x3400, 0xd7ff}, {0xf900, 0xfdff},   {0xfe70, 0xfefe},
                                {0xff66, 0xffdc}, {0x10000, 0x1efff}, {0x20000, 0x3ffff}};
  return std::any_of(std::begin(kLetters), std::end(kLetters), [code](const Range& range) {
    return code >= range.first && code <= range.last && code != 0x30fb;
  });
}

// What a character beyond ASCII that is no letter is for matching: its like in ASCII, a quote, a
// space, nothing ('\0'), or '?'.
char plain(uint32_t code) {
  if (code >= 0xff01 && code <= 0xff5e) return static_cast<char>(code - 0xfee0);  // full width
  if (code == 0x3001) return ',';
  if (code == 0x3002) return '.';
  if ((code >= 0x300a && code <= 0x300f) || code == 0x201a || code == 0x201b) return '\'';
  if (code == 0x30fb) return ' ';
  if ((code >= 0x2018 && code <= 0x201f) || code == 0xb4 || code == 0xab || code == 0xbb ||
      code == 0x2039 || code == 0x203a) {
    return '\'';
  }
  if (code <= 0xa0 || code == 0x2028 || code == 0x2029 || code == 0x3000) return ' ';
  // Lines and blocks that frames and progress bars are drawn with, and the dots beside a terminal.
  if ((code >= 0x2500 && code <= 0x259f) || code == 0xb7) return ' ';
  const bool invisible = (code >= 0x200b && code <= 0x200f) || (code >= 0x202a && code <= 0x202e) ||
                         code == 0xfeff || code == 0xad;
  return invisible ? '\0' : '?';
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
    } else if (const Character character = decode(text, i); character.bytes == 0) {
      out.put('?', base + i);
    } else {
      bytes = character.bytes;
      if (is_letter(character.code)) {
        for (size_t k = 0; k < bytes; ++k) out.put(text[i + k], base + i + k);
      } else {
        out.put(plain(character.code), base + i);
      }
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

size_t terminal_escape_length(std::string_view text, size_t at) {
  if (at + 1 >= text.size()) return 1;
  const char kind = text[at + 1];
  const size_t stop = std::min(text.size(), at + kLongestEscape);
  if (kind == '[') {
    size_t i = at + 2;
    while (i < stop && text[i] >= 0x20 && text[i] <= 0x3f) ++i;
    const bool ended = i < stop && text[i] >= 0x40 && text[i] <= 0x7e;
    return ended ? i + 1 - at : 2;
  }
  if (kind == ']' || kind == 'P' || kind == '^' || kind == '_' || kind == 'X') {
    for (size_t i = at + 2; i < stop; ++i) {
      if (text[i] == '\a') return i + 1 - at;
      if (text[i] == kEscape) return i - at + (i + 1 < text.size() && text[i + 1] == '\\' ? 2 : 0);
      if (text[i] == '\n') break;  // a real one holds none: do not swallow the next line
    }
    return 2;
  }
  return kind >= 0x20 && kind <= 0x7e ? 2 : 1;
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
