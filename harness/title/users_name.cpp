#include "harness/title/users_name.h"

#include <algorithm>
#include <iterator>

#include "harness/text/ascii.h"

namespace mpsprobe {
namespace {

using ascii::at;
using ascii::digit;
using ascii::lower;
using ascii::word;
using ascii::word_length;

constexpr size_t kLongestName = 120;

/// What stands in front of a name of the user's, and behind it where that tells it from others.
struct Lead {
  std::string_view before;
  std::string_view behind;
};
constexpr Lead kLeads[] = {
    {"Model type ", ""},
    {"model type ", ""},
    {"undefined value ", ""},
    {"serialized tensor ", ""},
    {"Invalid backend: ", ""},
    {"output name:", ""},
    {"output name: ", ""},
    {"for input: ", ""},
    {"for key ", ""},
    {"erase Node ", " but"},
    {"Module ", "("},
    {"Recompiling function ", " in "},
    {"Feature ", " is required"},
    {"open ", ": No such file"},
    {"Could not run ", " with arguments"},
    {"", " (with implementation in "},
    {"", "() is missing value for argument"},
    {"value for argument ", ""},
    {"", "() Expected a value of type "},
    {"() Expected a value of type ", " for argument"},
    {" for argument ", " but instead found"},
    {"find address for: ", ""},
    {"_OpNamespace ", " object"},
    {"_OpNamespace N object has no attribute ", ""},
    {"annotated as having type ", ""},
    {"attribute or method ", ""},
    {"Constraints violated (", ""},
    {"message of type ", ""},
    {"state_dict for ", ""},
    {"key(s) in state_dict: ", ""},
    {"size mismatch for ", ": copying"},
    {"): subscript ", " has size"},
    {"__torch__.", ""},
    {"Method ", " is not defined"},
    {"Parameter ", " already defined"},
    {"schema for ", ""},
    {"builtin op: ", ""},
    {"Unknown type name ", ""},
    {"", " is not defined in the "},
    {"Unsupported TypeMeta in ATen: ", ""},
    {"not been implemented for ", ""},
    {"Function ", " returned an invalid gradient"},
    {"function ", " returned an incorrect number of gradients"},
    {"Module [", "] is missing"},
    {"directory [", "]"},
    {"permitted [", "]"},
    {"denied [", "]"},
    {"exists [", "]"},
    {"open file <", ">"},
    {"waiting for key: ", ""},
    {"padding mode ", ""},
    {"dispatch key: ", ""},
    {"not found in ", "("},
    {"of module ", "("},
    {"cannot assign ", " object"},
    {"Parent directory ", " does not exist"},
    {"Parameter ", " must have a type annotation"},
    {"instantiate class ", ""},
    {"hook ", " has changed the "},
    {"variable with name ", ""},
    {"optimization option ", ", known"},
    {"infer dtype of ", ""},
    {"images file at ", ""},
    {"null pointer of type ", ""},
    {" of type ", " to Python object"},
    {"redefine method: ", " on class"},
};

// In front of a quotation and behind it: it names what the library has, and tells bugs apart.
constexpr std::string_view kNouns[] = {
    "argument",  "attribute", "call",       "calling",  "class",  "extension",
    "framework", "function",  "identifier", "image",    "kernel", "library",
    "method",    "module",    "name",       "named",    "op",     "operation",
    "operator",  "pipeline",  "run",        "selector", "symbol", "type"};
constexpr std::string_view kOwners[] = {"backend",  "device", "dialect", "extension", "function",
                                        "has",      "kernel", "not",     "object",    "op",
                                        "operator", "failed", "value"};

// What stands behind "label: ", brackets and all.
size_t label_length(std::string_view text, std::string_view before) {
  if (!before.ends_with("label: ")) return 0;
  if (text.starts_with("(null)")) return 6;
  const size_t end = text.substr(0, kLongestName).find_first_of(",)");
  return end == std::string_view::npos ? 0 : end;
}

// What stands behind "device string: ", in quotes or not.
size_t device_string_length(std::string_view text, std::string_view before) {
  while (before.ends_with('\'')) before.remove_suffix(1);
  if (!before.ends_with("device string: ")) return 0;
  return std::min(text.substr(0, kLongestName).find_first_of(" '"), text.size());
}

// "connect to localhost:80", "connect to 10.0.0.1", no service of the system's.
size_t host_length(std::string_view text, std::string_view before) {
  if (!before.ends_with("onnect to ")) return 0;
  const size_t end = std::min(text.substr(0, kLongestName).find_first_of(" ,;)'"), text.size());
  std::string_view host = text.substr(0, end);
  while (host.ends_with('.') || host.ends_with(':')) host.remove_suffix(1);
  const bool address = host.find_first_of(".:/0123456789") != std::string_view::npos;
  return address || host == "localhost" ? host.size() : 0;
}

bool in_name(char c) {
  return word(c) || c == '-' || c == '.' || c == '/';
}

size_t named_length(std::string_view text, std::string_view before) {
  while (before.ends_with('\'')) before.remove_suffix(1);
  // An operator of LibTorch's own tells bugs apart, one that was looked for in vain does not.
  const bool in_vain = before.ends_with("schema for ") || before.ends_with("builtin op: ");
  if (!in_vain && (text.starts_with("aten::") || text.starts_with("prim"))) return 0;
  constexpr std::string_view kLambda = "<lambda>";
  size_t end = text.starts_with(kLambda) ? kLambda.size() : 0;
  // As gcc names a type.
  constexpr std::string_view kConst = "const ";
  if (text.starts_with("const struct ") || text.starts_with("const class ")) end = kConst.size();
  for (std::string_view kind : {"struct ", "class ", "union ", "enum "}) {
    if (text.substr(end).starts_with(kind)) end += kind.size();
  }
  while (end < kLongestName && (in_name(at(text, end)) || text.substr(end).starts_with("::"))) {
    end += at(text, end) == ':' ? 2 : 1;
  }
  while (end > 0 && text[end - 1] == '.') --end;
  if (end == 0) return 0;
  // "List[int]"
  if (at(text, end) == '[') {
    const size_t close = text.substr(0, kLongestName).find(']', end);
    const std::string_view inside =
        text.substr(end + 1, close == std::string_view::npos ? 0 : close - end - 1);
    if (!inside.empty() && std::all_of(inside.begin(), inside.end(), in_name)) end = close + 1;
  }
  std::string_view behind = text.substr(end);
  while (behind.starts_with('\'')) behind.remove_prefix(1);
  const bool led = std::any_of(std::begin(kLeads), std::end(kLeads), [&](const Lead& lead) {
    return before.ends_with(lead.before) && behind.starts_with(lead.behind);
  });
  return led ? end : 0;
}

// "model.layers.12.mlp.weight": a layer's parameter, in a model of the user's.
size_t parameter_name_length(std::string_view text) {
  // "libpool.3.dylib" tells bugs apart.
  if (!lower(at(text, 0)) || text.starts_with("lib")) return 0;
  size_t end = word_length(text);
  bool numbered = false;
  bool number_last = false;
  while (at(text, end) == '.' && word(at(text, end + 1))) {
    const std::string_view part = text.substr(end + 1, word_length(text.substr(end + 1)));
    numbered = numbered || (number_last && lower(part[0]));
    number_last = std::all_of(part.begin(), part.end(), digit) || part == "N";
    end += 1 + part.size();
  }
  return numbered && end <= kLongestName ? end : 0;
}

// The words of two letters or more, but for "LaneError:".
size_t count_words(std::string_view text) {
  size_t count = 0;
  for (size_t i = 0; i < text.size();) {
    const size_t end = std::min(text.find(' ', i), text.size());
    const std::string_view token = text.substr(i, end - i);
    const auto letters = std::count_if(token.begin(), token.end(),
                                       [](char c) { return lower(c) || ascii::upper(c); });
    count += letters > 1 && !token.ends_with("Error:") ? 1 : 0;
    i = end + 1;
  }
  return count;
}

}  // namespace

size_t users_name_length(std::string_view text, std::string_view before) {
  if (const size_t length = label_length(text, before); length > 0) return length;
  if (const size_t length = device_string_length(text, before); length > 0) return length;
  if (const size_t length = host_length(text, before); length > 0) return length;
  if (const size_t length = named_length(text, before); length > 0) return length;
  const char last = before.empty() ? '\0' : before.back();
  return word(last) || last == '/' ? 0 : parameter_name_length(text);
}

size_t quoted_name_length(std::string_view text, std::string_view before) {
  constexpr size_t kFewestWords = 3;
  if (!before.ends_with('\'')) return 0;
  before.remove_suffix(1);
  if (!before.ends_with(' ')) return 0;
  before.remove_suffix(1);
  // "ij,jk->ik" as well, but no condition and no name of a library's.
  constexpr std::string_view kMarks = ",>*[]+#@$&";
  constexpr std::string_view kLocals = "<locals>";
  size_t end = 0;
  while (end < std::min(kLongestName, text.size()) &&
         (in_name(text[end]) || kMarks.find(text[end]) != std::string_view::npos ||
          text.substr(end).starts_with(kLocals))) {
    end += text[end] == '<' ? kLocals.size() : 1;
  }
  if (end == 0 || at(text, end) != '\'' || word(at(text, end + 1))) return 0;
  const std::string_view name = text.substr(0, end);
  const std::string_view behind = text.substr(end + 1);
  std::string_view noun = before.substr(before.rfind(' ') + 1);  // npos + 1 is 0
  while (noun.ends_with(':')) noun.remove_suffix(1);
  std::string_view owner =
      behind.starts_with(' ') ? behind.substr(1, behind.find(' ', 1) - 1) : std::string_view();
  while (owner.ends_with(':')) owner.remove_suffix(1);
  const bool telling = ascii::is_one_of(noun, kNouns) || ascii::is_one_of(owner, kOwners) ||
                       name.starts_with("aten") || name.ends_with("_cpu") ||
                       name.ends_with("_mps") || name.ends_with("_cuda");
  return !telling && count_words(before) + count_words(behind) >= kFewestWords ? end : 0;
}

size_t assigned_name_length(std::string_view text, std::string_view before) {
  constexpr std::string_view kTelling[] = {"code",   "err",    "errno",  "error", "kind",
                                           "kernel", "name",   "op",     "rc",    "reason",
                                           "result", "signal", "status", "type"};
  if (!before.ends_with('=')) return 0;
  before.remove_suffix(1);
  const size_t begin = before.find_last_of(" ([{,'") + 1;  // npos + 1 is 0
  const std::string_view key = before.substr(begin);
  const bool plain = !key.empty() && lower(key[0]) && std::all_of(key.begin(), key.end(), word);
  if (!plain || ascii::is_one_of(key, kTelling)) return 0;
  size_t end = 0;
  while (end < kLongestName && (word(at(text, end)) || at(text, end) == '-')) ++end;
  // No call, no scope, no file.
  const char next = at(text, end);
  const bool whole =
      next == '\0' || std::string_view(" ,;)]}'").find(next) != std::string_view::npos;
  return whole && (lower(at(text, 0)) || ascii::upper(at(text, 0))) ? end : 0;
}

bool is_data_file(std::string_view name) {
  constexpr std::string_view kSuffixes[] = {
      ".bin", ".cfg", ".conf",    ".ckpt", ".csv",  ".dat", ".ggml", ".gguf", ".gz",
      ".h5",  ".ini", ".jpg",     ".json", ".log",  ".npy", ".npz",  ".onnx", ".parquet",
      ".pkl", ".png", ".pt",      ".pth",  ".tar",  ".tmp", ".toml", ".tsv",  ".safetensors",
      ".txt", ".wav", ".mlmodel", ".xml",  ".yaml", ".zip"};
  return std::any_of(std::begin(kSuffixes), std::end(kSuffixes),
                     [&](std::string_view suffix) { return name.ends_with(suffix); });
}

}  // namespace mpsprobe
