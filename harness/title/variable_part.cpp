#include "harness/title/variable_part.h"

#include <algorithm>
#include <iterator>

#include "harness/text/ascii.h"
#include "harness/title/element_type.h"
#include "harness/title/users_name.h"

namespace mpsprobe {
namespace {

using ascii::at;
using ascii::digit;
using ascii::is_one_of;
using ascii::lower;
using ascii::upper;
using ascii::word;
using ascii::word_length;

constexpr size_t kLongestName = 120;

bool hex(char c) {
  return digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

size_t uuid_length(std::string_view text) {
  constexpr std::string_view kForm = "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh";
  if (text.size() < kForm.size() || word(at(text, kForm.size()))) return 0;
  for (size_t i = 0; i < kForm.size(); ++i) {
    if (kForm[i] == 'h' ? !hex(text[i]) : text[i] != '-') return 0;
  }
  return kForm.size();
}

// 12, 3.5, 2.15.0, 1e-05, 0x1f, 4GiB, 8x128xf32, 97f6331a.
size_t number_length(std::string_view text) {
  const size_t length = word_length(text);
  if (length == 0) return 0;
  const std::string_view token = text.substr(0, length);
  if (token == "inf" || token == "nan") return length;
  // "deadbee1" and "a1b2c3" are numbers, "fc1000" is none.
  const size_t first = token.find_first_of("0123456789");
  const bool mixed = length >= 6 && token.find_first_not_of("0123456789", first) < length;
  const bool long_hex =
      std::all_of(token.begin(), token.end(), hex) && first < length && (length >= 8 || mixed);
  if (!digit(token[0]) && !long_hex) return 0;
  size_t end = length;
  while (at(text, end) == '.' && digit(at(text, end + 1))) {
    end += 1 + word_length(text.substr(end + 1));
  }
  const bool exponent = text[end - 1] == 'e' || text[end - 1] == 'E';
  if (exponent && (at(text, end) == '-' || at(text, end) == '+') && digit(at(text, end + 1))) {
    end += 1 + word_length(text.substr(end + 1));
  }
  return end;
}

// A piece of a kernel's name that tells a variant of it: 64, f32, q4, float16, bm32.
bool is_variant(std::string_view piece) {
  if (piece.empty()) return false;
  const size_t letters = std::min(piece.find_first_of("0123456789"), piece.size());
  const bool tile = letters == 2 && letters < piece.size() && lower(piece[0]) && lower(piece[1]) &&
                    piece.find_first_not_of("0123456789", 2) == std::string_view::npos;
  if (tile) return true;
  if (letters == 0) return piece.find_first_not_of("0123456789") == std::string_view::npos;
  constexpr std::string_view kQuants[] = {"q", "iq", "tq", "s", "alN"};
  constexpr std::string_view kHalf = "half";
  return is_element_type(piece) || piece == kHalf ||
         (is_one_of(piece.substr(0, letters), kQuants) && is_element_size(piece.substr(letters)));
}

// What compilers make of a name is the name itself.
bool is_mangled(std::string_view name) {
  return name.starts_with("_Z") || name.starts_with("__Z") || name.starts_with("_$s") ||
         name.starts_with("_R") || name.starts_with("___Z");
}

// kernel_mul_mm_q4_0_f32: kernel_mul_mm_N. Empty where there is nothing to leave out.
std::string without_variant(std::string_view name) {
  if (name.find('_') == std::string_view::npos || is_mangled(name)) return "";
  std::string result;
  bool left_out = false;
  bool number = false;  // the last piece
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('_', begin), name.size());
    const std::string_view piece = name.substr(begin, end - begin);
    const bool variant = is_variant(piece) || (piece == "N" && begin > 0);
    left_out = left_out || is_variant(piece);
    // "float16_t" is two pieces.
    const bool tail = number && piece == "t";
    if (!(variant && number) && !tail) {
      if (begin > 0) result += '_';
      result += variant ? "N" : piece;
    }
    left_out = left_out || (variant && number) || tail;
    number = variant || tail;
    begin = end + 1;
  }
  return left_out ? result : "";
}

size_t url_length(std::string_view text) {
  const size_t scheme = word_length(text);
  if (scheme == 0 || !text.substr(scheme).starts_with("://")) return 0;
  return std::min(text.find_first_of(" '<>)]}", scheme), text.size());
}

// "(main0)", "(outTexture[0])": a name alone in brackets, not "(fast)", "(s)" or "(MUL_MAT)".
size_t bracketed_name_length(std::string_view text, std::string_view before) {
  if (at(text, 0) != '(') return 0;
  const size_t close = text.substr(0, kLongestName).find(')');
  if (close == std::string_view::npos || close == 1) return 0;
  const std::string_view name = text.substr(1, close - 1);
  if (name == "N") return 0;
  if (name == "null") return close + 1;
  // "([lanes])": a list of a user's.
  if (name.size() > 2 && name.starts_with('[') && name.ends_with(']')) return close + 1;
  const bool one = std::all_of(name.begin(), name.end(), [](char c) {
    return word(c) || std::string_view(".:[]#+-@").find(c) != std::string_view::npos;
  });
  const bool small = std::any_of(name.begin(), name.end(), lower);
  const bool telling = std::any_of(name.begin(), name.end(), [&](char c) {
    return digit(c) || (small && (upper(c) || c == '_'));
  });
  return one && (telling || before.ends_with("Function")) && !is_mangled(name) ? close + 1 : 0;
}

// Up to the bracket that closes the one at text[0], or 0.
size_t closed_length(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0) return i + 1;
  }
  return 0;
}

// "(lanes::take(Tensor a, int b) -> Tensor)": an operator that a user's library registers.
size_t schema_length(std::string_view text) {
  if (at(text, 0) != '(' || text.starts_with("(aten::")) return 0;
  const size_t scope = 1 + word_length(text.substr(1));
  if (!text.substr(scope).starts_with("::")) return 0;
  const size_t length = closed_length(text.substr(0, 3 * kLongestName));
  return text.substr(0, length).find(") -> ") != std::string_view::npos ? length : 0;
}

// The arguments of a call that is quoted: "f(a, b, c)".
size_t arguments_length(std::string_view text) {
  if (at(text, 0) != '(') return 0;
  const size_t end = closed_length(text.substr(0, 2 * kLongestName));
  const std::string_view arguments = text.substr(0, end);
  return std::count(arguments.begin(), arguments.end(), ',') >= 2 &&
                 std::any_of(arguments.begin(), arguments.end(), lower)
             ? end
             : 0;
}

// "vertexBuffer.1[0]" behind "argument".
size_t indexed_name_length(std::string_view text, std::string_view before) {
  constexpr std::string_view kNouns[] = {"argument ", "texture ", "buffer ", "sampler ", "for "};
  if (std::none_of(std::begin(kNouns), std::end(kNouns),
                   [&](std::string_view noun) { return before.ends_with(noun); })) {
    return 0;
  }
  size_t end = 0;
  while (word(at(text, end)) || (at(text, end) == '.' && word(at(text, end + 1)))) ++end;
  if (end == 0 || end > kLongestName || at(text, end) != '[') return 0;
  const size_t close = text.find_first_not_of("0123456789", end + 1);
  return close > end + 1 && at(text, close) == ']' ? close + 1 : 0;
}

// "scripted_lane.pt": a user's data.
size_t data_file_length(std::string_view text) {
  const auto end = std::find_if_not(text.begin(), text.end(),
                                    [](char c) { return word(c) || c == '-' || c == '.'; });
  const std::string_view name = text.substr(0, static_cast<size_t>(end - text.begin()));
  return is_data_file(name) && name.front() != '.' ? name.size() : 0;
}

// "<function take at N>", "<lanes.Lane object at 0x7f12>": a value as Python shows it.
size_t object_length(std::string_view text) {
  if (at(text, 0) != '<') return 0;
  const size_t close = text.substr(0, kLongestName).find('>');
  if (close == std::string_view::npos) return 0;
  const size_t address = text.substr(0, close).rfind(" at ");
  if (address == std::string_view::npos) return 0;
  const std::string_view number = text.substr(address + 4, close - address - 4);
  return number == "N" || number.starts_with("0x") ? close + 1 : 0;
}

// "torch.strided", and as C++ prints it "Strided"; "Sparse" is a word as well, but for beside
// "layout".
size_t layout_length(std::string_view text, std::string_view before) {
  constexpr std::string_view kOfPython[] = {"strided",    "sparse_coo", "sparse_csr", "sparse_csc",
                                            "sparse_bsr", "sparse_bsc", "jagged",     "_mkldnn"};
  constexpr std::string_view kOfCxx[] = {"Strided",   "SparseCsr", "SparseCsc",
                                         "SparseBsr", "SparseBsc", "Mkldnn"};
  constexpr std::string_view kScope = "torch.";
  const size_t begin = text.starts_with(kScope) ? kScope.size() : 0;
  const size_t length = word_length(text.substr(begin));
  const std::string_view name = text.substr(begin, length);
  const bool beside = before.ends_with("ayout ") || before.ends_with("ayout: ") ||
                      text.substr(length).starts_with(" layout") ||
                      text.substr(length).starts_with(" Layout");
  const bool layout = begin > 0 ? is_one_of(name, kOfPython)
                                : is_one_of(name, kOfCxx) || (name == "Sparse" && beside);
  return layout ? begin + length : 0;
}

// "torch.Size([2, 3])", "(2, 3)", "(2,)" and "[]", which merge with "[2, 3]".
size_t shape_length(std::string_view text, std::string_view before) {
  constexpr std::string_view kMarks = "0123456789, -";
  size_t begin = 0;
  if (text.starts_with("torch.Size(")) begin = 11;
  const char open = at(text, begin);
  if ((open != '[' && open != '(') || (!before.empty() && word(before.back()))) return 0;
  size_t close = std::min(text.find_first_not_of(kMarks, begin + 1), text.size());
  if (at(text, close) != (open == '[' ? ']' : ')')) return 0;
  const std::string_view sizes = text.substr(begin + 1, close - begin - 1);
  ++close;
  if (begin > 0) return at(text, close) == ')' ? close + 1 : 0;
  // A number in brackets is another thing, as are empty ones that no word leads to.
  if (open == '(' && sizes.find(',') == std::string_view::npos) return 0;
  return sizes.empty() && (before.empty() ||
                           std::string_view(" =(:{").find(before.back()) == std::string_view::npos)
             ? 0
             : close;
}

constexpr std::string_view kDevices[] = {"cpu", "cuda", "mps", "meta", "xpu",
                                         "npu", "hpu",  "xla", "hip"};

// "cuda:1", "mps:0", "cpu" alone; "meta", which is a word as well, where the words in front tell
// that it is one of several.
size_t device_length(std::string_view text, std::string_view before) {
  const size_t length = word_length(text);
  if (!is_one_of(text.substr(0, length), kDevices)) return 0;
  if (at(text, length) == ':' && digit(at(text, length + 1))) {
    return length + 1 + word_length(text.substr(length + 1));
  }
  const bool stop = std::string_view(".:").find(at(text, length)) != std::string_view::npos;
  const bool end = length == text.size() ||
                   std::string_view(" ',;!)]}").find(at(text, length)) != std::string_view::npos ||
                   (stop && (length + 1 == text.size() || text[length + 1] == ' '));
  const bool begin =
      before.empty() || std::string_view(" '=([{:").find(before.back()) != std::string_view::npos;
  if (!begin || !end) return 0;
  if (!text.starts_with("meta")) return length;
  while (before.ends_with('\'') || before.ends_with('\\')) before.remove_suffix(1);
  constexpr std::string_view kLeads[] = {
      "device ", "devices ", "devices, ",    "device=",       "device: ",   " on ",        " to ",
      " from ",  "found ",   "device type ", "<device> and ", "<device>, ", "<device> or "};
  return std::any_of(std::begin(kLeads), std::end(kLeads),
                     [&](std::string_view lead) { return before.ends_with(lead); })
             ? length
             : 0;
}

}  // namespace

VariablePart variable_part(std::string_view rest, std::string_view before) {
  const char last = before.empty() ? '\0' : before.back();
  if (size_t length = users_name_length(rest, before); length > 0) return {length, "N"};
  if (size_t length = schema_length(rest); length > 0) return {length, "(N)"};
  if (size_t length = bracketed_name_length(rest, before); length > 0) {
    const bool type = element_type_length(rest.substr(1), "(") + 2 == length;
    return {length, type ? "(<type>)" : "(N)"};
  }
  if (word(last)) {
    if (size_t length = arguments_length(rest); length > 0) return {length, "(...)"};
    // "dtypeFloat", where a release forgot the space.
    if (before.ends_with("type") || before.ends_with(" Type")) {
      if (size_t length = element_type_length(rest, " type "); length > 0) {
        return {length, " <type>"};
      }
    }
  }
  if (word(last)) return {};
  if (last == '/') {
    // "data/104": a part of a user's archive.
    const size_t number = number_length(rest);
    return number > 0 && !word(at(rest, number)) ? VariablePart{number, "N"} : VariablePart{};
  }
  if (size_t length = object_length(rest); length > 0) return {length, "N"};
  if (size_t length = shape_length(rest, before); length > 0) return {length, "[N]"};
  if (size_t length = layout_length(rest, before); length > 0) return {length, "<layout>"};
  if (size_t length = device_length(rest, before); length > 0) return {length, "<device>"};
  if (size_t length = element_type_length(rest, before); length > 0) return {length, "<type>"};
  if (size_t length = assigned_name_length(rest, before); length > 0) return {length, "N"};
  if (size_t length = data_file_length(rest); length > 0) return {length, "<file>"};
  if (size_t length = url_length(rest); length > 0) return {length, "<url>"};
  if (size_t length = uuid_length(rest); length > 0) return {length, "N"};
  if (size_t length = number_length(rest); length > 0) return {length, "N"};
  if (size_t length = indexed_name_length(rest, before); length > 0) return {length, "N"};
  constexpr std::string_view kFormat = "MTLPixelFormat";
  const size_t length = word_length(rest);
  if (rest.starts_with(kFormat) && length > kFormat.size()) return {length, std::string(kFormat)};
  // What a device stands beside may still become one: "'mps:0' and 'meta'".
  const size_t quoted = quoted_name_length(rest, before);
  if (quoted > 0 && !is_one_of(rest.substr(0, quoted), kDevices)) return {quoted, "N"};
  // "UnbindBackward0", as newer releases name the node of the graph that Unbind made.
  constexpr std::string_view kBackward = "Backward0";
  if (length > kBackward.size() && rest.substr(0, length).ends_with(kBackward)) {
    return {length, std::string(rest.substr(0, length - kBackward.size()))};
  }
  if (std::string name = without_variant(rest.substr(0, length)); !name.empty()) {
    return {length, name};
  }
  return {};
}

}  // namespace mpsprobe
