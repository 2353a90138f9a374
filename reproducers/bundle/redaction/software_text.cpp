#include "reproducers/bundle/redaction/software_text.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "harness/signature/shape.h"
#include "harness/wire/ascii.h"

namespace mpsprobe {
namespace {

constexpr size_t kHashed = 6;
constexpr size_t kMostOfWord = 64;
constexpr size_t kBuckets = size_t{1} << 20;

size_t bucket_of(const char* bytes) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, kHashed);
  return (word * 0x9e3779b97f4a7c15U) >> 44;
}

/// Bytes of a number at text[at]: of any length where the literal says that it is one, else too
/// short for one of a person. "4096", "2.00", "0x1f2c", not "3rd" nor "10.0.0.1".
size_t number_at(std::string_view text, size_t at, bool told) {
  static const Shape kNumber("(?:0x[0-9a-f]{1,16}|\\d{1,20}(?:\\.\\d{1,9})?)(?![.,]?\\w)");
  static const Shape kShort("(?:0x[0-9a-f]{1,12}|\\d{1,2}|\\d{1,3}\\.\\d{1,3})(?![.,]?\\w)");
  const auto match = (told ? kNumber : kShort).match(text, at);
  return match ? match->end - at : 0;
}

/// Whether a literal has a conversion of numbers alone at text[at].
bool tells_of_a_number(std::string_view text, size_t at) {
  static const Shape kConversion("%[-+# 0-9.]*(?:hh?|ll?|[zjt])?[diuxXfgGeEcp]");
  return kConversion.match(text, at).has_value();
}

/// Where a literal goes on behind its conversion at text[at]; `at` itself where it has none there.
size_t behind_conversion(std::string_view text, size_t at) {
  if (text[at] == '{') {
    const size_t end = text.substr(at, 40).find('}');
    return end == std::string_view::npos ? at : at + end + 1;
  }
  if (text[at] != '%') return at;
  size_t end = at + 1;
  while (end < text.size() && std::strchr("0123456789.-+# hlzjt", text[end]) != nullptr) ++end;
  return std::min(end + 1, text.size());
}

bool ends_literal(char c) {
  return c == '\0' || c == '"' || c == '\'';
}

void blank(std::string& literals, std::string_view text, bool with_next_name) {
  for (size_t at = literals.find(text); at != std::string::npos; at = literals.find(text, at)) {
    size_t end = at + text.size();
    while (with_next_name && end < literals.size() &&
           (is_word_byte(literals[end]) || literals[end] == '.' || literals[end] == '-'))
      ++end;
    std::fill(literals.begin() + static_cast<std::ptrdiff_t>(at),
              literals.begin() + static_cast<std::ptrdiff_t>(end), '\0');
    at = end;
  }
}

/// An interpreter or a library that was installed into somebody's home has its path built in. What
/// is below the home stays: it names files of the software.
std::string without_homes(std::string literals) {
  for (const char* homes : {"/home/", "/Users/"}) blank(literals, homes, true);
  std::set<std::string> own;
  if (const char* const home = std::getenv("HOME")) own.insert(home);
  if (const passwd* const account = getpwuid(getuid())) {
    own.insert(account->pw_dir);
    own.insert(fmt::format("/{}/", account->pw_name));
  }
  for (const char* variable : {"USER", "LOGNAME"}) {
    const char* const name = std::getenv(variable);
    if (name != nullptr && *name != '\0') own.insert(fmt::format("/{}/", name));
  }
  for (const std::string& text : own) {
    if (text.size() > 2) blank(literals, text, false);
  }
  return literals;
}

}  // namespace

bool is_word_byte(char c) {
  return ascii::word(c) || static_cast<unsigned char>(c) >= 0x80;
}

void SoftwareText::add(std::string_view text) {
  const size_t from = text_.size();
  if (text.size() > UINT32_MAX - from - kHashed) return;
  text_ += without_homes(std::string(text));
  text_ += '\0';
  index(from);
  add_words(from);
}

void SoftwareText::add_words(size_t from) {
  for (size_t at = from; at < text_.size(); ++at) {
    if (!ends_literal(text_[at - 1])) continue;
    size_t end = at;
    while (is_word_byte(text_[end]) || text_[end] == '.' || text_[end] == '-') ++end;
    const bool word = end > at && end - at <= kMostOfWord && ends_literal(text_[end]);
    if (word) words_.emplace(text_, at, end - at);
  }
}

void SoftwareText::index(size_t from) {
  last_.resize(kBuckets, 0);
  if (places_.empty()) {
    places_.push_back(0);
    before_.push_back(0);
  }
  for (size_t at = from; at + kHashed < text_.size(); ++at) {
    if (!is_word_byte(text_[at]) || is_word_byte(text_[at - 1])) continue;
    uint32_t& last = last_[bucket_of(text_.data() + at)];
    places_.push_back(static_cast<uint32_t>(at));
    before_.push_back(last);
    last = static_cast<uint32_t>(places_.size() - 1);
  }
}

SoftwareText::Run SoftwareText::run_from(std::string_view text, size_t place) const {
  Run longest;
  size_t literal = 0;
  size_t at = 0;
  while (true) {
    const size_t begin = at;
    while (at < text.size() && place < text_.size() && text[at] == text_[place] &&
           text[at] != '\0') {
      ++at;
      ++place;
    }
    literal += at - begin;
    const bool inside = at < text.size() && is_word_byte(text[at]);
    const bool inside_there = place < text_.size() && is_word_byte(text_[place]);
    size_t end = at;
    if (inside || inside_there) {  // back to the end of a word
      while (end > begin && is_word_byte(text[end - 1])) --end;
      while (end > begin && !is_word_byte(text[end - 1])) --end;
    }
    if (end > begin) longest = {end, literal - (at - end)};
    if (at >= text.size() || place >= text_.size() || literal < kFewestInRun) return longest;
    const size_t number = number_at(text, at, tells_of_a_number(text_, place));
    if (number == 0 || (at > 0 && is_word_byte(text[at - 1]))) return longest;
    const size_t behind = behind_conversion(text_, place);
    if (behind == place && !ends_literal(text_[place])) return longest;
    at += number;
    longest = {at, literal};
    if (behind == place) return longest;
    place = behind;
  }
}

size_t SoftwareText::run_at(std::string_view text, size_t at) const {
  if (last_.empty() || at + kHashed > text.size()) return 0;
  Run longest;
  for (uint32_t i = last_[bucket_of(text.data() + at)]; i != 0; i = before_[i]) {
    const Run run = run_from(text.substr(at), places_[i]);
    if (run.bytes > longest.bytes && run.of_literal >= kFewestInRun) longest = run;
  }
  return longest.bytes;
}

}  // namespace mpsprobe
