#include "harness/text/normal_text.h"

#include <algorithm>
#include <cstdint>

#include "harness/text/ascii.h"
#include "harness/text/escaped.h"
#include "harness/text/line_opening.h"
#include "harness/text/log_prefix.h"
#include "harness/text/terminal_escape.h"

namespace mpsprobe {
namespace {

constexpr char kEscape = '\x1b';

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
  return {code, bytes};
}

// What a character beyond ASCII is for matching: a quote, a space, nothing ('\0'), or '?'.
char plain(uint32_t code) {
  if ((code >= 0x2018 && code <= 0x201f) || code == 0xb4 || code == 0xab || code == 0xbb ||
      code == 0x2039 || code == 0x203a) {
    return '\'';
  }
  if (code == 0xa0 || code < 0xa0 || code == 0x2028 || code == 0x2029 || code == 0x3000) return ' ';
  // Lines and blocks that frames and progress bars are drawn with, and the dots beside a terminal.
  if ((code >= 0x2500 && code <= 0x259f) || code == 0xb7) return ' ';
  const bool invisible = (code >= 0x200b && code <= 0x200f) || (code >= 0x202a && code <= 0x202e) ||
                         code == 0xfeff || code == 0xad;
  return invisible ? '\0' : '?';
}

class Writer {
 public:
  explicit Writer(NormalText& result) : result_(result) {}

  void space(size_t origin, bool line_break) {
    if (!pending_) space_origin_ = origin;
    pending_ = true;
    break_ = break_ || line_break;
  }

  void put(char c, size_t origin) {
    if (pending_ && !result_.text.empty()) append(' ', space_origin_, break_);
    pending_ = false;
    break_ = false;
    append(c, origin, false);
  }

 private:
  void append(char c, size_t origin, bool line_break) {
    result_.text.push_back(c);
    result_.origin.push_back(origin);
    result_.breaks.push_back(line_break);
  }

  NormalText& result_;
  bool pending_ = false;
  bool break_ = false;
  size_t space_origin_ = 0;
};

void append(Writer& out, std::string_view text, size_t base, Logs logs) {
  const bool whole_lines = logs == Logs::left_out;
  bool line_begins = whole_lines;
  for (size_t i = 0; i < text.size();) {
    if (line_begins) i += log_prefix_length(text.substr(i));
    if (i == text.size()) break;
    const char c = text[i];
    line_begins = whole_lines && (c == '\n' || c == '\r');
    const auto byte = static_cast<unsigned char>(c);
    size_t bytes = 1;
    if (c == kEscape) {
      bytes = terminal_escape_length(text, i);
    } else if (const char space = whole_lines ? written_space(text, i) : '\0'; space != '\0') {
      bytes = 2;
      line_begins = space == '\n';
      out.space(base + i, line_begins);
    } else if (const Escaped escaped = escaped_at(text.substr(i)); escaped.length > 0) {
      bytes = escaped.length;
      if (escaped.character == ' ') {
        out.space(base + i, false);
      } else if (escaped.character != '\0') {
        out.put(escaped.character, base + i);
      }
    } else if (byte <= 0x20 || byte == 0x7f) {
      // A carriage return starts a line as well: progress bars are written with it.
      out.space(base + i, c == '\n' || c == '\r');
    } else if (c == '`' || c == '"') {
      out.put('\'', base + i);
    } else if (byte < 0x80) {
      out.put(c, base + i);
    } else if (const Character character = decode(text, i); character.bytes == 0) {
      out.put('?', base + i);
    } else {
      bytes = character.bytes;
      const char stand_in = plain(character.code);
      if (stand_in == ' ') {
        out.space(base + i, character.code == 0x2028 || character.code == 0x2029);
      } else if (stand_in != '\0') {
        out.put(stand_in, base + i);
      }
    }
    i += bytes;
  }
}

}  // namespace

bool goes_on(std::string_view line, std::string_view next) {
  constexpr size_t kShortest = 60;
  if (line.size() < kShortest || std::string_view(".!?:;)}]'=*").find(line.back()) != line.npos ||
      begins_a_line(next)) {
    return false;
  }
  std::string_view word = next.substr(0, next.find(' '));
  while (!word.empty() && std::string_view("'(<").find(word[0]) != word.npos) word.remove_prefix(1);
  // "lanes/pool.py", "pool[12]" and "lane = pool" are other lines.
  return ascii::lower(ascii::at(word, 0)) && word.find('/') == word.npos &&
         word.find('[') == word.npos &&
         !next.substr(std::min(next.find(' '), next.size())).starts_with(" = ");
}

NormalText normalise_text(std::string_view text, size_t most, Logs logs) {
  NormalText result;
  result.text.reserve(std::min(text.size(), most));
  result.origin.reserve(std::min(text.size(), most) + 1);
  Writer out(result);
  if (text.size() <= most) {
    append(out, text, 0, logs);
  } else {
    const size_t half = most / 2;
    append(out, text.substr(0, half), 0, logs);
    out.space(half, true);
    append(out, text.substr(text.size() - half), text.size() - half, logs);
  }
  result.origin.push_back(text.size());
  return result;
}

}  // namespace mpsprobe
