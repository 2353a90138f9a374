#include "reproducers/bundle/redaction/personal_patterns.h"

#include <string.h>  // memmem: of POSIX 2024, and so not of <cstring>

#include <algorithm>
#include <bitset>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "reproducers/bundle/redaction/number_checks.h"
#include "reproducers/bundle/redaction/pattern.h"
#include "reproducers/bundle/redaction/text_scan.h"

namespace mpsprobe {
namespace {

constexpr const char* kFiles[] = {
#include "patterns.inc"
};

/// How far back `not_after` looks.
constexpr size_t kBefore = 48;

constexpr size_t kTrigrams = size_t{1} << 15;

/// Of three bytes, as a number; several may have the same.
size_t trigram_at(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[at + i]); };
  return (byte(0) ^ (size_t{byte(1)} << 5) ^ (size_t{byte(2)} << 9)) % kTrigrams;
}

/// A text that several hundred words are looked for in, few of which are there.
class LoweredText {
 public:
  explicit LoweredText(std::string_view text) : lower_(ascii_lower(text)) {
    for (size_t i = 0; i + 2 < lower_.size(); ++i) there_.set(trigram_at(lower_, i));
  }

  bool holds(const std::string& word, const std::vector<size_t>& trigrams) const {
    return std::all_of(trigrams.begin(), trigrams.end(),
                       [this](size_t trigram) { return there_[trigram]; }) &&
           memmem(lower_.data(), lower_.size(), word.data(), word.size()) != nullptr;
  }

 private:
  std::string lower_;
  std::bitset<kTrigrams> there_;
};

struct NearWord {
  explicit NearWord(const std::string& text) : word(text) {
    for (size_t i = 0; i + 2 < word.size(); ++i) trigrams.push_back(trigram_at(word, i));
  }
  std::string word;
  std::vector<size_t> trigrams;
};

struct Row {
  std::string name;
  PersonalKind kind;
  Pattern regex;
  /// One of these words, in lower case, is in every text that it matches. Empty: not known.
  std::vector<NearWord> near;
  std::vector<Pattern> unless;     ///< in what was found: it names nobody
  std::vector<Pattern> not_after;  ///< at the end of what stands before it
  std::string check;
  double entropy;  ///< at least so much; 0: any
  bool whole;      ///< the groups of the pattern are its own, not what is to go
  bool names;
};

std::vector<Pattern> patterns_of(const nlohmann::json& row, const char* key) {
  std::vector<Pattern> patterns;
  if (!row.contains(key)) return patterns;
  for (const auto& text : row.at(key)) patterns.emplace_back(text.get<std::string>());
  return patterns;
}

std::vector<NearWord> near_words_of(const nlohmann::json& row) {
  const auto words = row.value("near", std::vector<std::string>{});
  return {words.begin(), words.end()};
}

std::vector<Row> read_rows() {
  std::vector<Row> rows;
  for (const char* file : kFiles) {
    const auto json = nlohmann::json::parse(file);
    for (const auto& row : json.at("rows")) {
      rows.push_back({row.at("name"),
                      personal_kind(row.at("kind").get<std::string>()),
                      Pattern(row.at("regex")),
                      near_words_of(row),
                      patterns_of(row, "unless"),
                      {},
                      row.value("check", ""),
                      row.value("entropy", 0.0),
                      row.value("whole", false),
                      row.value("learn", false)});
      if (row.contains("not_after")) {
        rows.back().not_after.emplace_back(row.at("not_after").get<std::string>());
      }
    }
  }
  return rows;
}

const std::vector<Row>& rows() {
  static const std::vector<Row> all = read_rows();
  return all;
}

bool may_match(const Row& row, const LoweredText& lower) {
  return row.near.empty() ||
         std::any_of(row.near.begin(), row.near.end(),
                     [&](const NearWord& near) { return lower.holds(near.word, near.trigrams); });
}

bool holds(const Row& row, std::string_view found) {
  if (row.check == "luhn") return has_luhn_digit(found);
  if (row.check == "iban") return is_iban(found);
  if (row.check == "ipv6") return is_ipv6_of_a_machine(found);
  return row.entropy == 0 || entropy_of(found) >= row.entropy;
}

bool any_in(const std::vector<Pattern>& patterns, std::string_view text) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const Pattern& pattern) { return pattern.in(text); });
}

/// Of another part of the bundle, put there when it was looked through before: "<secret>".
bool is_placeholder(std::string_view text) {
  return text.starts_with('<') && text.ends_with('>');
}

void find_row(const Row& row, std::string_view text, std::vector<PatternHit>& hits) {
  size_t reached = 0;
  const bool whole_text = row.regex.each(
      text,
      [&](Pattern::Part whole, Pattern::Part group) {
        const Pattern::Part part = row.whole ? whole : group;
        const std::string_view found = text.substr(part.begin, part.end - part.begin);
        if (found.empty() || is_placeholder(found) || !holds(row, found)) return;
        if (any_in(row.unless, found) ||
            any_in(row.unless, text.substr(whole.begin, whole.end - whole.begin))) {
          return;
        }
        const size_t before = part.begin < kBefore ? 0 : part.begin - kBefore;
        if (any_in(row.not_after, text.substr(before, part.begin - before))) return;
        hits.push_back({part.begin, part.end, row.kind, row.name});
      },
      &reached);
  if (!whole_text) hits.push_back({reached, text.size(), PersonalKind::unsearched, row.name});
}

}  // namespace

size_t pattern_rows() {
  return rows().size();
}

std::vector<PatternHit> names_by_pattern(std::string_view text) {
  std::vector<PatternHit> hits;
  const LoweredText lower(text);
  for (const Row& row : rows()) {
    if (row.names && may_match(row, lower)) find_row(row, text, hits);
  }
  std::erase_if(hits, [](const PatternHit& hit) { return hit.kind == PersonalKind::unsearched; });
  return hits;
}

std::vector<PatternHit> find_patterns(std::string_view text) {
  std::vector<PatternHit> hits;
  const LoweredText lower(text);
  for (const Row& row : rows()) {
    if (may_match(row, lower)) find_row(row, text, hits);
  }
  std::stable_sort(hits.begin(), hits.end(), [](const PatternHit& a, const PatternHit& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::vector<PatternHit> apart;
  for (const PatternHit& hit : hits) {
    if (!apart.empty() && hit.begin < apart.back().end) {
      apart.back().end = std::max(apart.back().end, hit.end);
    } else {
      apart.push_back(hit);
    }
  }
  return apart;
}

}  // namespace mpsprobe
