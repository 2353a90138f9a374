#define PCRE2_CODE_UNIT_WIDTH 8
#include "reproducers/bundle/redaction/pattern.h"

#include <fmt/format.h>
#include <pcre2.h>

#include <array>
#include <stdexcept>

namespace mpsprobe {
namespace {

/// Far above what any text of a known form needs; some milliseconds where one meets it.
constexpr uint32_t kMostSteps = 2'000'000;
constexpr uint32_t kMostHeapKiB = 16384;

struct Freed {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};

}  // namespace

struct Pattern::Compiled {
  std::unique_ptr<pcre2_code, Freed> code;
  std::unique_ptr<pcre2_match_context, Freed> context;
};

Pattern::Pattern(const std::string& expression) : compiled_(std::make_unique<Compiled>()) {
  int error = 0;
  PCRE2_SIZE place = 0;
  compiled_->code.reset(
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF, &error, &place, nullptr));
  if (compiled_->code == nullptr) {
    std::array<PCRE2_UCHAR, 256> words{};
    pcre2_get_error_message(error, words.data(), words.size());
    throw std::invalid_argument(fmt::format(
        "{}, at byte {} of {}", reinterpret_cast<const char*>(words.data()), place, expression));
  }
  // Where there is no compiler for this processor the interpreter does the same, slower.
  pcre2_jit_compile(compiled_->code.get(), PCRE2_JIT_COMPLETE);
  compiled_->context.reset(pcre2_match_context_create(nullptr));
  pcre2_set_match_limit(compiled_->context.get(), kMostSteps);
  pcre2_set_heap_limit(compiled_->context.get(), kMostHeapKiB);
}

Pattern::~Pattern() = default;
Pattern::Pattern(Pattern&& other) noexcept = default;
Pattern& Pattern::operator=(Pattern&& other) noexcept = default;

bool Pattern::each(std::string_view text, const std::function<void(Part, Part)>& found,
                   size_t* reached) const {
  const std::unique_ptr<pcre2_match_data, Freed> match(
      pcre2_match_data_create_from_pattern(compiled_->code.get(), nullptr));
  size_t from = 0;
  while (from <= text.size()) {
    const int groups = pcre2_match(compiled_->code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()),
                                   text.size(), from, 0, match.get(), compiled_->context.get());
    if (groups == PCRE2_ERROR_NOMATCH) return true;
    if (groups < 0) {
      if (reached != nullptr) *reached = from;
      return false;
    }
    const PCRE2_SIZE* places = pcre2_get_ovector_pointer(match.get());
    const Part whole{places[0], places[1]};
    Part group = whole;
    for (int i = groups - 1; i > 0; --i) {
      if (places[2 * i] != PCRE2_UNSET) group = {places[2 * i], places[2 * i + 1]};
    }
    found(whole, group);
    from = whole.end > from ? whole.end : from + 1;
  }
  return true;
}

bool Pattern::in(std::string_view text) const {
  bool any = false;
  each(
      text, [&](Part, Part) { any = true; }, nullptr);
  return any;
}

}  // namespace mpsprobe
