#include "reports/words/safe_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "harness/signature/plain_text.h"
#include "harness/wire/ascii.h"

namespace mpsprobe {
namespace {

constexpr char32_t kInvalid = 0xFFFFFFFF;

// The next code point of `bytes` at `at`, which moves on; kInvalid for a byte that starts none.
char32_t next_code_point(std::string_view bytes, size_t& at) {
  const Character character = character_at(bytes, at);
  at += std::max<size_t>(character.bytes, 1);
  return character.bytes == 0 ? kInvalid : character.code;
}

// Characters that are not seen, or change how the ones around them are seen.
bool acts_unseen(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code <= 0x9F) || code == 0xAD || code == 0x61C ||
         (code >= 0x200B && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF ||
         (code >= 0xFFF9 && code <= 0xFFFB) || (code >= 0xE0000 && code <= 0xE0FFF);
}

size_t display_columns(std::string_view text) {
  size_t columns = 0;
  for (size_t at = 0; at < text.size(); ++columns) next_code_point(text, at);
  return columns;
}

size_t longest_run(std::string_view text, char of) {
  size_t longest = 0;
  size_t run = 0;
  for (char c : text) {
    run = c == of ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

}  // namespace

std::string printable(std::string_view bytes, Lines lines) {
  std::string text;
  text.reserve(bytes.size());
  for (size_t at = 0; at < bytes.size();) {
    const size_t begin = at;
    const char32_t code = next_code_point(bytes, at);
    if (code == kInvalid) {
      text += "\xEF\xBF\xBD";
    } else if (code == '\r' || code == '\n') {
      if (code == '\r' && at < bytes.size() && bytes[at] == '\n') ++at;
      text += lines == Lines::keep ? '\n' : ' ';
    } else if (code == '\t') {
      text += lines == Lines::keep ? "    " : " ";
    } else if (acts_unseen(code)) {
      text += code < 0x80 ? fmt::format("\\x{:02x}", static_cast<uint32_t>(code))
                          : fmt::format("\\u{:04x}", static_cast<uint32_t>(code));
    } else {
      text += bytes.substr(begin, at - begin);
    }
  }
  return text;
}

std::string shortened(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  size_t end = most < 3 ? 0 : most - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "...";
}

std::string last_lines(std::string_view bytes, size_t most, size_t width) {
  const std::string text = printable(bytes, Lines::keep);
  std::vector<std::string> lines;
  for (size_t end = text.find_last_not_of('\n') + 1; end > 0 && lines.size() < most;) {
    const size_t newline = text.rfind('\n', end - 1);
    const size_t begin = newline == std::string::npos ? 0 : newline + 1;
    lines.push_back(shortened(std::string_view(text).substr(begin, end - begin), width));
    end = begin == 0 ? 0 : begin - 1;
  }
  std::string result;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) result += *line + "\n";
  return result;
}

std::vector<std::string> wrapped(std::string_view text, size_t width, size_t indent) {
  std::vector<std::string> lines;
  const std::string margin(indent, ' ');
  std::string line;
  size_t columns = 0;
  size_t space = std::string::npos;  // the last one in `line` where it may be broken
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    next_code_point(text, at);
    if (columns >= std::max(width, indent + 1)) {
      std::string rest;
      if (text[begin] == ' ') {
        space = std::string::npos;
      } else if (space != std::string::npos) {
        rest = line.substr(space + 1);
        line.erase(space);
      }
      lines.push_back(std::exchange(line, margin + rest));
      columns = display_columns(line);
      space = std::string::npos;
      if (text[begin] == ' ') continue;
    }
    const bool within = line.find_first_not_of(' ') != std::string::npos;
    if (text[begin] == ' ' && within) space = line.size();
    line += text.substr(begin, at - begin);
    ++columns;
  }
  lines.push_back(line);
  return lines;
}

std::string code_span(std::string_view bytes, size_t most) {
  std::string text = shortened(printable(bytes), most);
  if (text.find_first_not_of(' ') == std::string::npos) return "(empty)";
  const std::string fence(longest_run(text, '`') + 1, '`');
  // A table row is split at every "|" that no backslash precedes, inside code too; outside a table
  // the backslash would be shown. The full-width look-alike is right in both.
  std::string safe;
  for (char c : text) safe += c == '|' ? std::string("\xEF\xBD\x9C") : std::string(1, c);
  const bool pad = safe.front() == '`' || safe.back() == '`';
  return pad ? fence + " " + safe + " " + fence : fence + safe + fence;
}

std::string code_block(std::string_view bytes, std::string_view language) {
  std::string text = printable(bytes, Lines::keep);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const std::string fence(std::max<size_t>(3, longest_run(text, '`') + 1), '`');
  return fmt::format("{}{}\n{}\n{}\n", fence, language, text, fence);
}

std::string with_code(std::string_view text, std::string (*plain)(std::string_view),
                      std::string (*code)(std::string_view)) {
  std::string made;
  for (bool in_code = false;; in_code = !in_code) {
    const size_t end = std::min(text.find('`'), text.size());
    if (end > 0) made += (in_code ? code : plain)(text.substr(0, end));
    if (end == text.size()) return made;
    text.remove_prefix(end + 1);
  }
}

std::string escaped(std::string_view bytes, size_t most) {
  constexpr std::string_view kMarkup = "\\`*_[]~#!|";
  std::string text;
  const std::string plain = shortened(printable(bytes), most);
  for (size_t at = 0; at < plain.size(); ++at) {
    const char c = plain[at];
    // Addresses become links without any markup, "http://" and "www." being enough.
    const bool link = (c == ':' && plain.compare(at, 3, "://") == 0) ||
                      (c == '.' && at >= 3 && plain.compare(at - 3, 3, "www") == 0);
    if (c == '&') {
      text += "&amp;";
    } else if (c == '<') {
      text += "&lt;";
    } else if (c == '>') {
      text += "&gt;";
    } else if (c == '@') {
      text += "@&#8203;";  // a name after it would otherwise be told that it was mentioned
    } else if (link || kMarkup.find(c) != std::string_view::npos) {
      text += '\\';
      text += c;
    } else {
      text += c;
    }
  }
  return text;
}

std::string shell_quoted(std::string_view text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return ascii::word(c) || std::string_view("-+=./,:@%").find(c) != std::string_view::npos;
  });
  if (plain) return std::string(text);
  std::string quoted = "'";
  bool unseen = false;  // in "$(printf '\033')", the one form that every POSIX shell reads back
  const auto change_to = [&](bool now_unseen) {
    if (unseen != now_unseen) quoted += now_unseen ? "'\"$(printf '" : "')\"'";
    unseen = now_unseen;
  };
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const char32_t code = next_code_point(text, at);
    const std::string_view bytes = text.substr(begin, at - begin);
    change_to(code == kInvalid || (acts_unseen(code) && code != '\n'));
    if (unseen) {
      for (char byte : bytes) {
        quoted += fmt::format("\\{:03o}", static_cast<unsigned>(static_cast<unsigned char>(byte)));
      }
    } else if (bytes == "'") {
      quoted += "'\\''";
    } else {
      quoted += bytes;
    }
  }
  change_to(false);
  return quoted + "'";
}

std::string shell_command(std::span<const std::string> arguments) {
  std::string command;
  for (const std::string& argument : arguments) {
    if (!command.empty()) command += ' ';
    command += shell_quoted(argument);
  }
  return command;
}

}  // namespace mpsprobe
