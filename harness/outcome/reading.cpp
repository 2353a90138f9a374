#include "harness/outcome/reading.h"

#include <algorithm>

namespace mpsprobe {
namespace {

// "-[Class method:]" that ends just before `end`, or nothing.
std::string_view method_before(const Reader& reader, size_t end) {
  const size_t limit = end > kLookBack ? end - kLookBack : 0;
  const std::string_view before = reader.slice(limit, end);
  const size_t close = before.rfind(']');
  const size_t open = before.rfind('[', close);
  if (close == std::string_view::npos || open == std::string_view::npos || open == 0) return {};
  if (before[open - 1] != '-' && before[open - 1] != '+') return {};
  return before.substr(open - 1, close + 1 - (open - 1));
}

std::optional<ReadText> read_quoted(const Reader& reader, const Match& match) {
  const size_t after = match.end + 1;  // past the space
  const bool quoted = reader.slice(match.end, reader.stop).starts_with(" '");
  size_t begin = quoted ? after + 1 : after;
  size_t end = quoted ? reader.closing_quote(begin) : reader.find(" at line ", match.end);
  const size_t line = reader.line_end(std::min(begin, reader.stop));
  if (!quoted && end != std::string_view::npos && end > line) end = std::string_view::npos;
  if (end == std::string_view::npos && quoted) end = line;
  if (end != std::string_view::npos && end > begin) {
    const std::string_view message = reader.slice(begin, end);
    if (message.starts_with('%')) return std::nullopt;
    return ReadText{std::string(message), end};
  }
  const std::string_view method = method_before(reader, match.begin);
  if (method.empty()) return std::nullopt;
  return ReadText{"in " + std::string(method), match.end};
}

std::optional<ReadText> read_thrown(const Reader& reader, const Match& match) {
  if (reader.slice(match.end, reader.stop).substr(0, 1) != "'") return std::nullopt;
  const size_t type_end = reader.find("'", match.end + 1);
  if (type_end == std::string_view::npos) return std::nullopt;
  constexpr std::string_view kWhat = " what(): ";
  if (reader.slice(type_end + 1, reader.stop).starts_with(kWhat)) {
    const size_t begin = type_end + 1 + kWhat.size();
    const size_t end = reader.line_end(begin);
    if (end > begin) return ReadText{std::string(reader.slice(begin, end)), end};
    return ReadText{std::string(reader.slice(match.end + 1, type_end)), reader.stop};
  }
  return ReadText{std::string(reader.slice(match.end + 1, type_end)), type_end};
}

std::optional<ReadText> read_typed(const Reader& reader, const Match& match) {
  const size_t end = reader.line_end(match.end);
  const size_t colon = reader.find(": ", match.end);
  const bool message = colon != std::string_view::npos && colon + 2 < end;
  return ReadText{std::string(reader.slice(message ? colon + 2 : match.end, end)), end};
}

std::optional<ReadText> read_reason(const Reader& reader, const Match& match) {
  constexpr std::string_view kReason = "reason: '";
  const size_t line = reader.line_end(match.end);
  const size_t reason = reader.find(kReason, match.end);
  if (reason == std::string_view::npos) {
    return ReadText{std::string(reader.slice(match.end, line)), line};
  }
  const size_t begin = reason + kReason.size();
  const size_t close = reader.closing_quote(begin);
  const size_t end = close == std::string_view::npos ? reader.line_end(begin) : close;
  return ReadText{std::string(reader.slice(begin, end)), end};
}

// "panicked at src/lib.rs:72:9:" with the message on the next line, or "panicked at 'message',
// ...".
std::optional<ReadText> read_panic(const Reader& reader, const Match& match) {
  const size_t line = reader.line_end(match.end);
  const std::string_view place = reader.slice(match.end, line);
  if (place.starts_with('\'')) {
    // The message may quote; behind it stands the place in the source.
    const size_t close = reader.find("', ", match.end + 1);
    const size_t end = close == std::string_view::npos ? line : close;
    return ReadText{std::string(reader.slice(match.end + 1, end)), end};
  }
  if (!place.ends_with(':') || line + 1 >= reader.stop) return std::nullopt;
  const size_t end = reader.line_end(line + 1);
  return ReadText{std::string(reader.slice(line + 1, end)), end};
}

// The condition stands in front: "RuntimeError: x > 0 INTERNAL ASSERT FAILED at "file":7, ...".
std::optional<ReadText> read_before(const Reader& reader, const Match& match) {
  std::string_view message = reader.slice(reader.line_begin(match.begin), match.begin);
  for (std::string_view lead : {"what(): ", "Error: ", "terminate called", "of type "}) {
    const size_t found = message.rfind(lead);
    if (found != std::string_view::npos) message.remove_prefix(found + lead.size());
  }
  const size_t end = reader.line_end(match.end);
  constexpr std::string_view kReport = "please report a bug to PyTorch. ";
  const size_t detail = reader.find(kReport, match.end);
  if ((message.empty() || message == "false") && detail != std::string_view::npos && detail < end) {
    message = reader.slice(detail + kReport.size(), end);
  }
  return ReadText{std::string(message), end};
}

}  // namespace

std::optional<ReadText> read_match(const Reader& reader, const Match& match) {
  const auto up_to = [&](std::string_view mark, bool needed) -> std::optional<ReadText> {
    size_t end = reader.find(mark, match.end);
    if (end == std::string_view::npos && needed) return std::nullopt;
    if (end == std::string_view::npos) end = reader.line_end(match.end);
    return ReadText{std::string(reader.slice(match.end, end)), end};
  };
  switch (match.pattern->reading) {
    case Reading::none:
      return ReadText{{}, match.end};
    case Reading::quoted:
      return read_quoted(reader, match);
    case Reading::until_failed:
      return up_to("' failed", true);
    case Reading::parenthesised:
      return up_to("), function", false);
    case Reading::thrown:
      return read_thrown(reader, match);
    case Reading::typed:
      return read_typed(reader, match);
    case Reading::reason:
      return read_reason(reader, match);
    case Reading::before:
      return read_before(reader, match);
    case Reading::line: {
      const size_t end = reader.line_end(match.end);
      std::string_view message = reader.slice(match.end, end);
      // malloc names the object first, OMP the number.
      if (match.pattern->text_class != TextClass::exception) {
        const size_t colon = message.find(": ");
        const std::string_view lead = message.substr(0, colon);
        const bool number =
            lead.starts_with(" 0x") ||
            (!lead.empty() && lead.find_first_not_of("0123456789") == std::string_view::npos);
        if (colon != std::string_view::npos && number) message.remove_prefix(colon + 2);
      }
      return ReadText{std::string(message), end};
    }
    case Reading::token: {
      size_t end = match.end;
      while (end < reader.stop && reader.text()[end] != ' ' && reader.text()[end] != ',') ++end;
      std::string_view token = reader.slice(match.end, end);
      while (!token.empty() && (token.back() == ':' || token.back() == ')')) token.remove_suffix(1);
      return ReadText{std::string(token), end};
    }
    case Reading::until_paren_failed:
      return up_to(") failed", false);
    case Reading::panic:
      return read_panic(reader, match);
    case Reading::not_an_echo: {
      const size_t end = reader.line_end(match.end);
      const std::string_view message = reader.slice(match.end, end);
      for (std::string_view echo : {"Segmentation fault", "Aborted", "Bus error",
                                    "Illegal instruction", "Floating", "Trace"}) {
        if (message.starts_with(echo)) return std::nullopt;
      }
      return ReadText{std::string(message), end};
    }
    case Reading::block: {
      return ReadText{{}, std::min(reader.stop, match.end + 300)};
    }
  }
  return std::nullopt;
}

}  // namespace mpsprobe
