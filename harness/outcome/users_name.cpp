#include "harness/outcome/users_name.h"

#include <algorithm>
#include <iterator>

#include "harness/outcome/ascii.h"

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
    {", keys: ", ""},
    {"state_dict for ", ""},
    {"key(s) in state_dict: ", ""},
    {"size mismatch for ", ": copying"},
    {"): subscript ", " has size"},
    {"__torch__.", ""},
    {"Method ", " is not defined"},
    {"Parameter ", " already defined"},
    {"schema for ", ""},
};

// What stands behind "label: ", brackets and all.
size_t label_length(std::string_view text, std::string_view before) {
  if (!before.ends_with("label: ")) return 0;
  if (text.starts_with("(null)")) return 6;
  const size_t end = text.substr(0, kLongestName).find_first_of(",)");
  return end == std::string_view::npos ? 0 : end;
}

bool in_name(char c) {
  return word(c) || c == '-' || c == '.' || c == '/';
}

size_t named_length(std::string_view text, std::string_view before) {
  while (before.ends_with('\'')) before.remove_suffix(1);
  // An operator of LibTorch's own tells bugs apart.
  if (text.starts_with("aten::") || text.starts_with("prim")) return 0;
  size_t end = 0;
  while (end < kLongestName && (in_name(at(text, end)) || text.substr(end).starts_with("::"))) {
    end += at(text, end) == ':' ? 2 : 1;
  }
  while (end > 0 && text[end - 1] == '.') --end;
  if (end == 0) return 0;
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

}  // namespace

size_t users_name_length(std::string_view text, std::string_view before) {
  if (const size_t length = label_length(text, before); length > 0) return length;
  if (const size_t length = named_length(text, before); length > 0) return length;
  const char last = before.empty() ? '\0' : before.back();
  return word(last) || last == '/' ? 0 : parameter_name_length(text);
}

bool is_data_file(std::string_view name) {
  constexpr std::string_view kSuffixes[] = {".safetensors", ".gguf",    ".ggml", ".pt",
                                            ".pth",         ".ckpt",    ".onnx", ".npz",
                                            ".npy",         ".mlmodel", ".toml", ".yaml"};
  return std::any_of(std::begin(kSuffixes), std::end(kSuffixes),
                     [&](std::string_view suffix) { return name.ends_with(suffix); });
}

}  // namespace mpsprobe
