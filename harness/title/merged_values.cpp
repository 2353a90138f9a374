#include "harness/title/merged_values.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "harness/text/ascii.h"

namespace mpsprobe {
namespace {

using ascii::at;
using ascii::word;

// "[N, N, N]" is "[N]", "N N" and "-N" are "N", "N GiB" is "N": ranks, signs and units vary as
// numbers do.
std::string merge_numbers(std::string_view text) {
  constexpr std::string_view kSeparators[] = {", ", ",", " x ", "x", "*", " ", " or ", ", or "};
  constexpr std::string_view kUnits[] = {" bytes", " KB",   " MB",  " GB",  " TB",
                                         " KiB",   " MiB",  " GiB", " TiB", ". KiB",
                                         ". MiB",  ". GiB", ". TiB"};
  std::string result;
  const auto number_at = [&](size_t i) { return at(text, i) == 'N' && !word(at(text, i + 1)); };
  for (size_t i = 0; i < text.size();) {
    const char before = result.empty() ? '\0' : result.back();
    if (text[i] == '-' || text[i] == '+') {
      const size_t next = std::min(text.find_first_not_of("+-", i), text.size());
      const bool sign = number_at(next) && !word(before) && before != ')' && before != ']';
      if (!sign) result += text.substr(i, next - i);
      i = next;
      continue;
    }
    result += text[i++];
    if (result.back() != 'N' || word(before)) continue;
    if (word(at(text, i)) && at(text, i) != 'x') continue;
    for (bool merged = true; merged;) {
      merged = false;
      for (std::string_view separator : kSeparators) {
        if (!text.substr(i).starts_with(separator)) continue;
        const size_t next = i + separator.size() + (at(text, i + separator.size()) == '-' ? 1 : 0);
        if (!number_at(next)) continue;
        i = next + 1;
        merged = true;
        break;
      }
    }
    // A shape of one dimension, as Python writes it.
    if (text.substr(i).starts_with(",)")) ++i;
    for (std::string_view unit : kUnits) {
      if (!text.substr(i).starts_with(unit) || word(at(text, i + unit.size()))) continue;
      i += unit.size();
      break;
    }
  }
  return result;
}

// "<type>, <type> and <type>" is "<type>", "CPU, XPU and CUDA" is "CPU...": releases add to them.
std::string merge_lists(std::string_view text) {
  constexpr std::string_view kMembers[] = {
      "<type>", "<device>", "<layout>", "CPU",  "CUDA", "XPU", "MPS", "HPU",        "XLA",
      "HIP",    "ROCM",     "Meta",     "MTIA", "NPU",  "IPU", "VE",  "PrivateUse1"};
  constexpr std::string_view kSeparators[] = {", and ", ", or ", ", ", " and ", " or ", "/"};
  const auto member_at = [&](size_t i) -> size_t {
    for (std::string_view member : kMembers) {
      if (text.substr(i).starts_with(member) && !word(at(text, i + member.size()))) {
        return member.size();
      }
    }
    return 0;
  };
  std::string result;
  for (size_t i = 0; i < text.size();) {
    const size_t length = result.empty() || !word(result.back()) ? member_at(i) : 0;
    result += text.substr(i, std::max<size_t>(length, 1));
    i += std::max<size_t>(length, 1);
    if (length == 0) continue;
    bool list = false;
    for (bool merged = true; merged;) {
      merged = false;
      for (std::string_view separator : kSeparators) {
        if (!text.substr(i).starts_with(separator)) continue;
        const size_t next = member_at(i + separator.size());
        if (next == 0) continue;
        i += separator.size() + next;
        merged = list = true;
        break;
      }
    }
    if (list && !result.ends_with('>')) result += "...";
  }
  return result;
}

// A phrase of two words or more that stands twice or more in a row stands once.
std::string without_echoes(const std::string& text) {
  constexpr size_t kMostWords = 8;
  std::vector<std::string_view> words;
  const std::string_view all = text;
  for (size_t i = 0; i < all.size();) {
    const size_t end = std::min(all.find(' ', i), all.size());
    if (end > i) words.push_back(all.substr(i, end - i));
    i = end + 1;
  }
  std::vector<std::string_view> kept;
  for (std::string_view one : words) {
    kept.push_back(one);
    for (size_t n = 2; n <= kMostWords && 2 * n <= kept.size(); ++n) {
      const auto last = kept.end() - static_cast<std::ptrdiff_t>(n);
      if (std::equal(last, kept.end(), last - static_cast<std::ptrdiff_t>(n))) {
        kept.erase(last, kept.end());
        break;
      }
    }
  }
  std::string result;
  for (std::string_view one : kept) {
    if (!result.empty()) result += ' ';
    result += one;
  }
  return result;
}

}  // namespace

std::string merge_values(std::string_view text) {
  return without_echoes(merge_lists(merge_numbers(text)));
}

std::string without_asides(std::string text) {
  constexpr std::string_view kValues[] = {"N", "[N]", "<type>", "<device>", "<layout>"};
  for (std::string_view value : kValues) {
    const std::string aside = " (" + std::string(value) + ")";
    for (size_t i = text.find(aside, 1); i != std::string::npos; i = text.find(aside, i)) {
      text.erase(i, aside.size());
    }
  }
  // "pragma (at pool.cpp:take()) is": where in the source.
  for (size_t i = text.find(" (at "); i != std::string::npos; i = text.find(" (at ", i + 1)) {
    int depth = 0;
    size_t end = i + 1;
    for (; end < text.size(); ++end) {
      depth += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
      if (depth == 0) break;
    }
    const bool one = text.find(' ', i + 5) > end;
    if (one && end + 1 < text.size()) text.erase(i, end + 1 - i);
  }
  for (bool shorter = true; shorter;) {
    shorter = false;
    for (std::string_view value : kValues) {
      const size_t rest = text.size() - std::min(text.size(), value.size());
      const bool last = rest > 2 && text.ends_with(value) && text[rest - 1] == ' ' &&
                        (text[rest - 2] == ':' || text[rest - 2] == ',');
      if (!last) continue;
      text.resize(rest - 2);
      shorter = true;
    }
  }
  return text;
}

}  // namespace mpsprobe
