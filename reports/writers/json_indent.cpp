#include "reports/writers/json_indent.h"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>

namespace mpsprobe {
namespace {

bool is_plain(char c) {
  return c != '"' && c != '\\' && static_cast<unsigned char>(c) < 0x7f;
}

/// One character of UTF-8, which begins at `at`, as JSON writes it in ASCII; moves behind it.
void append_escaped(std::string_view text, size_t& at, std::string& out) {
  const auto byte = [&text](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const uint32_t lead = byte(at);
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  uint32_t point = length == 1 ? lead : lead & (0x7fU >> length);
  for (size_t i = 1; i < length; ++i) point = point << 6 | (byte(at + i) & 0x3fU);
  at += length;
  if (point < 0x10000) {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", point);
  } else {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}\\u{:04x}", 0xd7c0U + (point >> 10),
                   0xdc00U + (point & 0x3ffU));
  }
}

/// A text with its quotes, which begins at `at`; moves behind it.
void append_text(std::string_view json, size_t& at, std::string& out) {
  out += json[at++];
  while (at < json.size()) {
    const size_t begin = at;
    while (at < json.size() && is_plain(json[at])) ++at;
    out.append(json.substr(begin, at - begin));
    if (at >= json.size()) return;
    if (json[at] == '"') {
      out += json[at++];
      return;
    }
    if (json[at] == '\\') {
      out.append(json.substr(at, 2));
      at += 2;
    } else {
      append_escaped(json, at, out);
    }
  }
}

void append_line(size_t depth, std::string& out) {
  out += '\n';
  out.append(depth, ' ');
}

}  // namespace

void append_indented(std::string_view compact, size_t depth, std::string& out) {
  for (size_t at = 0; at < compact.size();) {
    const char c = compact[at];
    if (c == '"') {
      append_text(compact, at, out);
      continue;
    }
    ++at;
    if (c == '{' || c == '[') {
      out += c;
      if (at < compact.size() && (compact[at] == '}' || compact[at] == ']')) {
        out += compact[at++];
      } else {
        append_line(++depth, out);
      }
    } else if (c == '}' || c == ']') {
      append_line(--depth, out);
      out += c;
    } else if (c == ',') {
      out += c;
      append_line(depth, out);
    } else if (c == ':') {
      out += ": ";
    } else {
      out += c;
    }
  }
}

}  // namespace mpsprobe
