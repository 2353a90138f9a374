#include "harness/outcome/reading.h"

#include <algorithm>

#include "harness/outcome/interleaved.h"
#include "harness/outcome/metal_reading.h"
#include "harness/outcome/torchscript.h"
#include "harness/text/ascii.h"

namespace mpsprobe {
namespace {

std::string of_type(std::string_view type) {
  while (!type.empty() && (type.back() == ':' || type.back() == ' ')) type.remove_suffix(1);
  return "exception of type " + std::string(type);
}

// LibTorch's interpreter tells a story in its exception's message, the cause on one of its last
// lines: "RuntimeError: no lane". `told` is the story's first line.
ReadText past_torchscript(const Reader& reader, ReadText told) {
  if (told.message.find(kTorchScriptStory) == std::string::npos) {
    return told;
  }
  constexpr std::string_view kError = "Error: ";
  const size_t end = std::min(reader.find("Exception raised from ", told.end), reader.stop);
  size_t found = std::string_view::npos;
  for (size_t i = reader.find(kError, told.end); i < end; i = reader.find(kError, i + 1)) {
    found = i + kError.size();
  }
  if (found == std::string_view::npos) return told;
  const size_t line = std::min(reader.line_end(found), end);
  return {std::string(reader.slice(found, line)), line};
}

// "  what():  no lane", where other threads printed lines between the type and it.
std::optional<ReadText> what_below(const Reader& reader, size_t from) {
  constexpr size_t kFarthest = 4096;
  constexpr size_t kLongest = 600;
  constexpr std::string_view kWhat = " what(): ";
  std::string_view below = reader.text().substr(from, kFarthest);
  below = below.substr(0, below.find("terminate called"));
  const size_t found = below.find(kWhat);
  if (found == std::string_view::npos) return std::nullopt;
  const size_t begin = from + found + kWhat.size();
  const Reader message{reader.normal, std::min(reader.text().size(), begin + kLongest)};
  const size_t end = message.line_end(begin);
  if (end <= begin) return std::nullopt;
  return ReadText{std::string(message.slice(begin, end)), end};
}

std::optional<ReadText> read_thrown(const Reader& reader, const Match& match) {
  if (reader.slice(match.end, reader.stop).substr(0, 1) != "'") return std::nullopt;
  const size_t type_end = reader.find("'", match.end + 1);
  OtherLines others(reader, match.begin);
  const auto told = [&](const std::optional<ReadText>& message) -> std::optional<ReadText> {
    if (!message) return std::nullopt;
    return past_torchscript(reader, *message);
  };
  if (type_end == std::string_view::npos || type_end > reader.line_end(match.end)) {
    // Other threads' lines stand within the type as well.
    const size_t end = reader.break_at(match.end, reader.stop);
    others.add(reader.slice(match.end + 1, end));
    return told(others.message_behind(end));
  }
  constexpr std::string_view kWhat = " what(): ";
  std::optional<ReadText> message;
  if (reader.slice(type_end + 1, reader.stop).starts_with(kWhat)) {
    const size_t begin = type_end + 1 + kWhat.size();
    const size_t end = reader.line_end(begin);
    if (end <= begin) return ReadText{of_type(reader.slice(match.end + 1, type_end)), reader.stop};
    message = ReadText{std::string(reader.slice(begin, end)), end};
  } else {
    message = what_below(reader, type_end);
  }
  if (message && others.has(message->message)) {
    if (auto behind = others.message_behind(message->end)) message = std::move(behind);
  }
  if (!message) return ReadText{of_type(reader.slice(match.end + 1, type_end)), type_end};
  return told(message);
}

std::optional<ReadText> read_typed(const Reader& reader, const Match& match) {
  const size_t end = reader.line_end(match.end);
  const size_t colon = reader.find(": ", match.end);
  if (colon != std::string_view::npos && colon < end) {
    // Where the line ends with the type, the message stands on the next.
    const size_t message_end = colon + 1 == end ? reader.line_end(end + 1) : end;
    const std::string_view message = reader.slice(colon + 2, message_end);
    if (!message.empty()) return ReadText{std::string(message), message_end};
  }
  return ReadText{of_type(reader.slice(match.end, end)), end};
}

std::optional<ReadText> read_reason(const Reader& reader, const Match& match) {
  const size_t close = reader.closing_quote(match.end);
  const size_t end = close == std::string_view::npos ? reader.line_end(match.end) : close;
  return ReadText{std::string(reader.slice(match.end, end)), end};
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
  // "what(): ", "RuntimeError: ", a program's own words.
  for (std::string_view lead : {": ", "terminate called", "of type "}) {
    const size_t found = message.rfind(lead);
    if (found != std::string_view::npos) message.remove_prefix(found + lead.size());
  }
  const size_t end = reader.line_end(match.end);
  constexpr std::string_view kReport = "please report a bug to PyTorch. ";
  const size_t detail = reader.find(kReport, match.end);
  if ((message.empty() || message == "false" || message == "0") &&
      detail != std::string_view::npos && detail < end) {
    message = reader.slice(detail + kReport.size(), end);
  }
  return ReadText{std::string(message), end};
}

// "(error == nil), function f, file x, line 7." or "error == nil, file x".
std::optional<ReadText> read_asserted(const Reader& reader, const Match& match) {
  const size_t line = reader.line_end(match.end);
  const bool brackets = reader.slice(match.end, line).starts_with('(');
  size_t begin = match.end;
  size_t end = line;
  if (const size_t function = reader.find("), function", match.end);
      brackets && function != std::string_view::npos) {
    ++begin;
    end = function;
  } else {
    for (std::string_view mark : {", function", ", file", ", at "}) {
      const size_t found = reader.find(mark, match.end);
      if (found != std::string_view::npos) end = std::min(end, found);
    }
    if (brackets && reader.slice(begin, end).find(')') == std::string_view::npos) ++begin;
  }
  return ReadText{std::string(reader.slice(begin, end)), end};
}

// "file:7: GGML_ASSERT(condition) failed" or "GGML_ASSERT: file:7: condition".
std::optional<ReadText> read_ggml(const Reader& reader, const Match& match) {
  const bool old = match.pattern->fragments[0].ends_with(": ");
  std::string_view place = reader.slice(reader.line_begin(match.begin), match.begin);
  const size_t line = reader.line_end(match.end);
  size_t begin = match.end;
  size_t end = line;
  if (old) {
    const size_t colon = reader.find(": ", match.end);
    if (colon != std::string_view::npos && colon < line) {
      place = reader.slice(match.end, colon);
      begin = colon + 2;
    }
  } else if (const size_t failed = reader.find(") failed", match.end);
             failed != std::string_view::npos) {
    end = failed;
  }
  std::string condition(reader.slice(begin, end));
  const bool unopened = std::count(condition.begin(), condition.end(), '\'') % 2 == 1;
  if (unopened && condition.ends_with('\'')) condition.pop_back();
  if (condition != "false" && condition != "0") return ReadText{condition, end};
  place = place.substr(place.find_last_of("/ ") + 1);
  return ReadText{std::string(place.substr(0, place.find(':'))) + ": false", end};
}

// "Something (0000000e:kIOGPU...)", "Something (IOAF code 9)", behind phrases that all share.
std::optional<ReadText> read_cause(const Reader& reader, const Match& match) {
  constexpr size_t kLongest = 400;
  constexpr size_t kClose = 300;
  constexpr std::string_view kUnknown = "ended with an error";
  const size_t stop = std::min(reader.stop, match.end + kLongest);
  const std::string_view rest = reader.slice(match.end, stop);
  // A program's source.
  if (rest.starts_with('\'') || rest.starts_with(" '")) return std::nullopt;
  size_t code = std::string_view::npos;
  for (size_t open = rest.find(" ("); open != std::string_view::npos;
       open = rest.find(" (", open)) {
    open += 2;
    const std::string_view number = rest.substr(open, 8);
    const bool hex = number.size() == 8 && ascii::at(rest, open + 8) == ':' &&
                     number.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
    if (!hex && !rest.substr(open).starts_with("IOAF code ")) continue;
    code = open - 2;
    break;
  }
  if (code == std::string_view::npos) {
    // Where the words alone are known, they stand close by.
    return ReadText{std::string(kUnknown), std::min(reader.stop, match.end + kClose)};
  }
  std::string_view words = rest.substr(0, code);
  for (std::string_view lead : {". ", ": ", "(null) ", "' ", "# "}) {
    const size_t found = words.rfind(lead);
    if (found != std::string_view::npos) words.remove_prefix(found + lead.size());
  }
  if (words.empty()) words = kUnknown;
  return ReadText{std::string(words), match.end + code};
}

// An error of MPSGraph's compiler, with the operation that it is about:
// "loc('mps_add'('(mpsFileLoc): /path/File.mm':228:0)): error: message". `head` is what stands in
// front of the message.
std::string graph_error(std::string_view head, std::string_view message) {
  constexpr std::string_view kLocation = "loc('";
  const size_t location = head.rfind(kLocation);
  while (message.ends_with(' ')) message.remove_suffix(1);
  // A message can name it itself: "'mps.matmul' op contracting dimensions differ".
  if (location == std::string_view::npos || message.starts_with(kGraphOperation)) {
    return std::string(message);
  }
  const std::string_view name = head.substr(location + kLocation.size());
  const std::string_view operation = name.substr(0, name.find('\''));
  // A location without a name is that of the file.
  if (operation.starts_with("(mpsFileLoc)")) return std::string(message);
  return std::string(operation) + ": " + std::string(message);
}

// How far in front of a form the location of its error can begin: paths stand in it.
constexpr size_t kLongestLocation = 600;

std::string_view in_front_of(const Reader& reader, size_t end) {
  const size_t begin = end > kLongestLocation ? end - kLongestLocation : 0;
  return reader.text().substr(begin, end - begin);
}

std::optional<ReadText> read_graph(const Reader& reader, const Match& match) {
  const size_t end = reader.line_end(match.end);
  const bool bare = match.pattern->fragments[0] == kGraphOperation;
  const std::string_view message = reader.slice(bare ? match.begin : match.end, end);
  // The compiler for the neural engine declines what the GPU then runs.
  if (message.starts_with("'anec.")) return std::nullopt;
  return ReadText{graph_error(in_front_of(reader, match.end), message), end};
}

// The error that MPSGraph's compiler printed before it gave up.
std::optional<ReadText> read_above(const Reader& reader, const Match& match) {
  constexpr std::string_view kError = ": error: ";
  const std::string_view before = in_front_of(reader, match.begin);
  const size_t error = before.rfind(kError);
  const size_t operation = before.rfind(kGraphOperation);
  size_t message = error == std::string_view::npos ? error : error + kError.size();
  const bool bare = operation != std::string_view::npos &&
                    (error == std::string_view::npos || operation > message) &&
                    before.substr(operation).find("' op ") != std::string_view::npos;
  if (bare) message = operation;
  if (message == std::string_view::npos) return ReadText{{}, match.end};
  const size_t begin = match.begin - before.size() + message;
  const size_t end = std::min(reader.line_end(begin), match.begin);
  return ReadText{graph_error(before.substr(0, message), reader.slice(begin, end)), match.end};
}

std::optional<ReadText> read_symbol(const Reader& reader, const Match& match) {
  constexpr std::string_view kMarks = "'()<>,.;:";
  size_t begin = match.end;
  while (begin < reader.stop && kMarks.find(reader.text()[begin]) != std::string_view::npos) {
    ++begin;
  }
  size_t end = begin;
  while (end < reader.stop && reader.text()[end] != ' ') ++end;
  std::string_view symbol = reader.slice(begin, end);
  symbol = symbol.substr(0, symbol.find_first_of("'(),;"));
  return ReadText{std::string(symbol), end};
}

std::optional<ReadText> read_named(const Reader& reader, const Match& match) {
  const size_t begin = match.begin + match.pattern->fragments[0].size();
  const size_t quote = reader.find("'", begin);
  const size_t stop = std::max(match.end, reader.line_end(match.end));
  const size_t end = std::min(quote, stop);
  return ReadText{std::string(reader.slice(begin, end)), std::max(end, match.end)};
}

std::optional<ReadText> read_between(const Match& match, std::string_view text) {
  const auto& fragments = match.pattern->fragments;
  const size_t begin = match.begin + fragments[0].size();
  const size_t end = match.end - fragments[1].size();
  if (begin >= end || text[begin] == '\'') return std::nullopt;
  return ReadText{std::string(text.substr(begin, end - begin)), match.end};
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
    case Reading::asserted:
      return read_asserted(reader, match);
    case Reading::thrown:
      return read_thrown(reader, match);
    case Reading::typed:
      return read_typed(reader, match);
    case Reading::reason:
      return read_reason(reader, match);
    case Reading::before:
      return read_before(reader, match);
    case Reading::word_before: {
      const std::string_view line = reader.slice(reader.line_begin(match.begin), match.begin);
      return ReadText{std::string(line.substr(line.rfind(' ') + 1)), match.end};  // npos + 1 is 0
    }
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
    case Reading::ggml:
      return read_ggml(reader, match);
    case Reading::panic:
      return read_panic(reader, match);
    case Reading::not_an_echo: {
      const size_t end = reader.line_end(match.end);
      const std::string_view message = reader.slice(match.end, end);
      for (std::string_view echo : {"Segmentation fault", "Aborted", "Bus error",
                                    "Illegal instruction", "Floating", "Trace"}) {
        if (message.starts_with(echo)) return std::nullopt;
      }
      // "none_dealloc: deallocating None: bug likely caused by": Python 3.8 names no function, and
      // gives no advice.
      const size_t name = message.find(": ");
      std::string_view what = message;
      // Where it wants a thread's state, the function says it all, and releases word the rest anew.
      for (std::string_view state : {"with the GIL held", "NULL tstate", "no current thread"}) {
        if (name != std::string_view::npos && message.find(state) != std::string_view::npos) {
          return ReadText{std::string(message.substr(0, name)), end};
        }
      }
      if (name != std::string_view::npos && message.find(' ') > name) what.remove_prefix(name + 2);
      what = what.substr(0, what.find(": "));
      return ReadText{std::string(what.find(' ') == std::string_view::npos ? message : what), end};
    }
    case Reading::cause:
      return read_cause(reader, match);
    case Reading::graph:
      return read_graph(reader, match);
    case Reading::above:
      return read_above(reader, match);
    case Reading::symbol:
      return read_symbol(reader, match);
    case Reading::between:
      return read_between(match, reader.text());
    case Reading::named:
      return read_named(reader, match);
  }
  return std::nullopt;
}

}  // namespace mpsprobe
