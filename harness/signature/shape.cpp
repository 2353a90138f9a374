#define PCRE2_CODE_UNIT_WIDTH 8
#include "harness/signature/shape.h"

#include <pcre2.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>
#include <vector>

#include "harness/wire/ascii.h"

namespace mpsprobe {
namespace {

constexpr size_t kFarthest = 4096;
constexpr uint32_t kMostSteps = 16384;
constexpr uint32_t kMostGroups = 32;  ///< those behind them hold nothing

struct Freed {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};

pcre2_match_context* bounded() {
  static const std::unique_ptr<pcre2_match_context, Freed> context = [] {
    std::unique_ptr<pcre2_match_context, Freed> made(pcre2_match_context_create(nullptr));
    pcre2_set_match_limit(made.get(), kMostSteps);
    return made;
  }();
  return context.get();
}

// The bytes that a match of `code` may begin with.
std::bitset<256> first_bytes(const pcre2_code* code) {
  std::bitset<256> first;
  uint32_t kind = 0;
  pcre2_pattern_info(code, PCRE2_INFO_FIRSTCODETYPE, &kind);
  uint32_t byte = 0;
  const uint8_t* map = nullptr;
  if (kind == 1 && pcre2_pattern_info(code, PCRE2_INFO_FIRSTCODEUNIT, &byte) == 0) {
    // In both cases: it may not matter to the expression.
    first.set(byte);
    first.set(static_cast<unsigned char>(ascii::to_lower(static_cast<char>(byte))));
    first.set(byte >= 'a' && byte <= 'z' ? byte - 'a' + 'A' : byte);
  } else if (pcre2_pattern_info(code, PCRE2_INFO_FIRSTBITMAP, &map) == 0 && map != nullptr) {
    for (size_t i = 0; i < first.size(); ++i) first.set(i, (map[i / 8] >> (i % 8) & 1U) != 0);
  } else {
    first.set();
  }
  return first;
}

}  // namespace

struct Shape::Compiled {
  std::unique_ptr<pcre2_code, Freed> code;
  /// Of its groups, and where each begins among the places of a match.
  std::vector<std::pair<std::string_view, size_t>> names;
};

Shape::Shape(const std::string& expression) {
  int error = 0;
  PCRE2_SIZE place = 0;
  auto compiled = std::make_shared<Compiled>();
  compiled->code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()),
                                     expression.size(), PCRE2_MULTILINE, &error, &place, nullptr));
  if (compiled->code == nullptr) {
    std::array<PCRE2_UCHAR, 256> words{};
    pcre2_get_error_message(error, words.data(), words.size());
    throw std::invalid_argument(std::string(reinterpret_cast<const char*>(words.data())) +
                                " at character " + std::to_string(place + 1));
  }
  first_ = first_bytes(compiled->code.get());
  // A row of the table of names: the group's number in two bytes, and its name.
  uint32_t count = 0;
  uint32_t width = 0;
  PCRE2_SPTR row = nullptr;
  pcre2_pattern_info(compiled->code.get(), PCRE2_INFO_NAMECOUNT, &count);
  pcre2_pattern_info(compiled->code.get(), PCRE2_INFO_NAMEENTRYSIZE, &width);
  pcre2_pattern_info(compiled->code.get(), PCRE2_INFO_NAMETABLE, &row);
  for (uint32_t i = 0; i < count; ++i, row += width) {
    const size_t group = size_t{row[0]} << 8U | row[1];
    if (group < kMostGroups) {
      compiled->names.emplace_back(reinterpret_cast<const char*>(row + 2), group * 2);
    }
  }
  compiled_ = std::move(compiled);
}

std::optional<ShapeMatch> Shape::match(std::string_view text, size_t at) const {
  if (at < text.size() && !first_[static_cast<unsigned char>(text[at])]) return std::nullopt;
  thread_local const std::unique_ptr<pcre2_match_data, Freed> found(
      pcre2_match_data_create(kMostGroups, nullptr));
  const int groups = pcre2_match(compiled_->code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()),
                                 std::min(text.size(), at + kFarthest), at, PCRE2_ANCHORED,
                                 found.get(), bounded());
  if (groups < 0) return std::nullopt;
  const PCRE2_SIZE* places = pcre2_get_ovector_pointer(found.get());
  const size_t inner = groups != 1 && places[2] != PCRE2_UNSET ? 2 : 0;
  ShapeMatch match{places[0], places[1], places[inner], places[inner + 1], {}};
  for (const auto& [name, group] : compiled_->names) {
    if (places[group] == PCRE2_UNSET) continue;
    match.parts.emplace(name, text.substr(places[group], places[group + 1] - places[group]));
  }
  return match;
}

}  // namespace mpsprobe
