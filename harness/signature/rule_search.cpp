#include "harness/signature/rule_search.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "harness/signature/fragment_search.h"

namespace mpsprobe {
namespace {

constexpr size_t kLookBack = 1024;
// Anchors whose shapes are tried: the first and the last half of so many.
constexpr size_t kMostAnchors = 1024;

// All fragments, and for each the rows that wait for it.
struct Index {
  struct Stage {
    size_t row;
    size_t fragment;
  };
  using Waiting = std::vector<Stage>;

  explicit Index(const Rules& rules) {
    std::map<std::string_view, Waiting> by_fragment;
    for (size_t row = 0; row < rules.texts.size(); ++row) {
      const std::vector<std::string>& fragments = rules.texts[row].fragments;
      for (size_t i = 0; i < fragments.size(); ++i) by_fragment[fragments[i]].push_back({row, i});
    }
    std::vector<std::string_view> fragments;
    for (auto& [fragment, rows] : by_fragment) {
      fragments.push_back(fragment);
      waiting.push_back(std::move(rows));
    }
    search.emplace(std::move(fragments));
  }

  std::vector<Waiting> waiting;
  std::optional<FragmentSearch> search;
};

bool ends_with_place(std::string_view before) {
  // "file.mm:78:", "]:78:", "prog[1:2]", "program: file.cpp:12: void f():"
  return before.ends_with(':') || before.ends_with(']');
}

// Whether a match stands where its rule may count, and not in a comment, a warning or what pytest
// says of a failure that was expected.
bool in_place(const PlainText& text, size_t begin, Place place) {
  const size_t line = text.line_begin(begin, kLookBack);
  const std::string_view before = std::string_view(text.text).substr(line, begin - line);
  static const Shape kNoFailure(R"( *(?:#|\* |/\*|//|XFAIL )|.* (?://|/\*) )");
  if (kNoFailure.match(before, 0)) return false;
  const bool first = before.find_first_not_of(' ') == std::string_view::npos;
  switch (place) {
    case Place::anywhere:
      return true;
    case Place::line_start:
      return first;
    case Place::unwarned:
      return before.find("Warning: ") == std::string_view::npos;
    case Place::after_source:
      return first || ends_with_place(before.substr(0, before.find_last_not_of(' ') + 1));
  }
  return false;
}

// Where forms may be.
struct Anchor {
  size_t begin;
  size_t end;
  const Index::Waiting* rows;
};

void read_forms(const PlainText& text, const Rules& rules, const std::vector<Anchor>& anchors,
                std::vector<RuleMatch>& found) {
  for (size_t i = 0; i < anchors.size(); ++i) {
    const bool middle = i >= kMostAnchors / 2 && anchors.size() - i > kMostAnchors / 2;
    if (middle) continue;
    const Anchor& anchor = anchors[i];
    for (const Index::Stage& stage : *anchor.rows) {
      const TextRule& form = rules.texts[stage.row];
      if (!form.shape || !in_place(text, anchor.begin, form.place)) continue;
      const size_t from =
          form.from_the_line ? text.line_begin(anchor.begin, kLookBack) : anchor.begin;
      const auto match = form.shape->match(text.text, from);
      if (!match) continue;
      found.push_back({&form, anchor.begin, std::max(match->end, anchor.end), match->inner_begin,
                       match->inner_end});
      break;
    }
  }
}

}  // namespace

std::string_view message_of(const PlainText& text, const RuleMatch& match) {
  const std::string_view whole = text.text;
  size_t end = match.message_end;
  const size_t last = whole.substr(0, end).find_last_not_of(" \n");
  const bool announces = last != std::string_view::npos && last >= match.message_begin &&
                         whole[last] == ':' && text.line_end(last) <= end + 1;
  if (announces) end = text.line_end(std::min(text.line_end(last) + 1, whole.size()));
  return whole.substr(match.message_begin, end - match.message_begin);
}

std::vector<RuleMatch> find_rules(const PlainText& text, const Rules& rules) {
  static const Index standard(Rules::standard());
  std::optional<Index> others;
  const Index& index = &rules == &Rules::standard() ? standard : others.emplace(rules);
  std::vector<RuleMatch> found;
  std::vector<Anchor> anchors;
  // reached[i]: the latest place from which the fragments up to this one were seen in order.
  // The latest is always the best: it leaves the most of the window.
  struct Span {
    size_t begin = 0;
    size_t end = 0;  // 0: not seen
  };
  std::vector<std::array<Span, kMostFragments>> reached(rules.texts.size());
  index.search->scan(text.text, [&](size_t fragment, size_t begin, size_t end) {
    const Index::Waiting& waiting = index.waiting[fragment];
    bool form = false;
    for (const Index::Stage& stage : waiting) {
      const TextRule& rule = rules.texts[stage.row];
      if (rule.shape) {
        form = true;
        continue;
      }
      std::array<Span, kMostFragments>& spans = reached[stage.row];
      Span span{begin, end};
      if (stage.fragment > 0) {
        const Span& before = spans[stage.fragment - 1];
        if (before.end == 0 || before.end > begin || end - before.begin > rule.window) continue;
        span.begin = before.begin;
      }
      spans[stage.fragment] = span;
      if (stage.fragment + 1 < rule.fragments.size()) continue;
      if (in_place(text, span.begin, rule.place)) {
        found.push_back({&rule, span.begin, end, span.begin, end});
      }
      spans = {};
    }
    if (form) anchors.push_back({begin, end, &waiting});
  });
  read_forms(text, rules, anchors, found);
  const auto form_of = [](const RuleMatch& match) {
    return match.rule->shape ? match.rule : nullptr;
  };
  std::stable_sort(found.begin(), found.end(), [&](const RuleMatch& a, const RuleMatch& b) {
    return a.begin != b.begin ? a.begin < b.begin : std::less<>()(form_of(a), form_of(b));
  });
  const auto same_place = [&](const RuleMatch& a, const RuleMatch& b) {
    return a.begin == b.begin && form_of(a) != nullptr && form_of(b) != nullptr;
  };
  found.erase(std::unique(found.begin(), found.end(), same_place), found.end());
  return found;
}

}  // namespace mpsprobe
