#include "harness/signature/rule_search.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "harness/signature/fragment_search.h"

namespace mpsprobe {
namespace {

constexpr size_t kLookBack = 1024;
// Anchors whose shapes are tried: the first and the last half of so many.
constexpr size_t kMostAnchors = 1024;

// The automaton of all fragments and anchors, and for each the rows that wait for it.
class Index {
 public:
  struct Use {
    size_t row;
    size_t stage;
    bool last;
  };

  explicit Index(const Rules& rules) : Index(build(rules)) {}

  const FragmentSearch& search() const { return search_; }
  const std::vector<Use>& texts(size_t fragment) const { return built_.texts[fragment]; }
  const std::vector<size_t>& forms(size_t fragment) const { return built_.forms[fragment]; }

  // That of the standard rules is made once.
  static std::shared_ptr<const Index> of(const Rules& rules) {
    static const auto standard = std::make_shared<const Index>(Rules::standard());
    return alike(rules, Rules::standard()) ? standard : std::make_shared<const Index>(rules);
  }

 private:
  struct Built {
    std::vector<std::string_view> fragments;
    std::vector<std::vector<Use>> texts;
    std::vector<std::vector<size_t>> forms;
  };

  explicit Index(Built built) : search_(built.fragments), built_(std::move(built)) {}

  // Whether two have one index: a test leaves rows out of the other tables as well.
  static bool alike(const Rules& rules, const Rules& others) {
    return &rules == &others ||
           (std::equal(rules.texts.begin(), rules.texts.end(), others.texts.begin(),
                       others.texts.end(),
                       [](const KnownText& one, const KnownText& other) {
                         return one.fragments == other.fragments;
                       }) &&
            std::equal(
                rules.forms.begin(), rules.forms.end(), others.forms.begin(), others.forms.end(),
                [](const Form& one, const Form& other) { return one.anchor == other.anchor; }));
  }

  static Built build(const Rules& rules) {
    Built built;
    std::map<std::string_view, size_t> known;
    const auto place_of = [&](std::string_view fragment) {
      const auto [place, added] = known.try_emplace(fragment, built.fragments.size());
      if (added) {
        built.fragments.push_back(fragment);
        built.texts.emplace_back();
        built.forms.emplace_back();
      }
      return place->second;
    };
    for (size_t row = 0; row < rules.texts.size(); ++row) {
      const auto& fragments = rules.texts[row].fragments;
      for (size_t stage = 0; stage < fragments.size(); ++stage) {
        built.texts[place_of(fragments[stage])].push_back(
            {row, stage, stage + 1 == fragments.size()});
      }
    }
    for (size_t row = 0; row < rules.forms.size(); ++row) {
      built.forms[place_of(rules.forms[row].anchor)].push_back(row);
    }
    return built;
  }

  FragmentSearch search_;
  Built built_;
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
  std::string_view words = before;
  while (words.starts_with(' ')) words.remove_prefix(1);
  if (words.starts_with('#') || words.starts_with("* ") || words.starts_with("/*") ||
      words.starts_with("//") || words.starts_with("XFAIL ") ||
      before.find(" // ") != std::string_view::npos ||
      before.find(" /* ") != std::string_view::npos) {
    return false;
  }
  switch (place) {
    case Place::anywhere:
      return true;
    case Place::line_start:
      return words.empty();
    case Place::unwarned:
      return before.find("Warning: ") == std::string_view::npos;
    case Place::after_source:
      return words.empty() || ends_with_place(before.substr(0, before.find_last_not_of(' ') + 1));
  }
  return false;
}

struct Anchor {
  size_t begin;
  size_t end;
  const std::vector<size_t>* forms;
};

void read_forms(const PlainText& text, const Rules& rules, const std::vector<Anchor>& anchors,
                std::vector<RuleMatch>& found) {
  for (size_t i = 0; i < anchors.size(); ++i) {
    const bool middle = i >= kMostAnchors / 2 && anchors.size() - i > kMostAnchors / 2;
    if (middle) continue;
    const Anchor& anchor = anchors[i];
    for (size_t row : *anchor.forms) {
      const Form& form = rules.forms[row];
      if (!in_place(text, anchor.begin, form.place)) continue;
      const size_t from =
          form.from_the_line ? text.line_begin(anchor.begin, kLookBack) : anchor.begin;
      const auto match = form.shape.match(text.text, from);
      if (!match) continue;
      found.push_back({nullptr, &form, anchor.begin, std::max(match->end, anchor.end),
                       match->inner_begin, match->inner_end});
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
  const std::shared_ptr<const Index> index = Index::of(rules);
  std::vector<RuleMatch> found;
  std::vector<Anchor> anchors;
  // reached[stage]: the latest place from which the fragments up to this one were seen in order.
  // The latest is always the best: it leaves the most of the window.
  struct Span {
    size_t begin = 0;
    size_t end = 0;  // 0: not seen
  };
  std::vector<std::array<Span, kMostFragments>> reached(rules.texts.size());
  index->search().scan(text.text, [&](size_t fragment, size_t end) {
    for (const Index::Use& use : index->texts(fragment)) {
      const KnownText& known = rules.texts[use.row];
      std::array<Span, kMostFragments>& spans = reached[use.row];
      const size_t begin = end - known.fragments[use.stage].size();
      Span span{begin, end};
      if (use.stage > 0) {
        const Span& before = spans[use.stage - 1];
        if (before.end == 0 || before.end > begin || end - before.begin > known.window) continue;
        span.begin = before.begin;
      }
      if (!use.last) {
        spans[use.stage] = span;
        continue;
      }
      if (in_place(text, span.begin, known.place)) {
        found.push_back({&known, nullptr, span.begin, end, span.begin, end});
      }
      spans = {};
    }
    if (const std::vector<size_t>& forms = index->forms(fragment); !forms.empty()) {
      anchors.push_back({end - rules.forms[forms.front()].anchor.size(), end, &forms});
    }
  });
  read_forms(text, rules, anchors, found);
  std::stable_sort(found.begin(), found.end(), [](const RuleMatch& a, const RuleMatch& b) {
    return a.begin != b.begin ? a.begin < b.begin : std::less<>()(a.form, b.form);
  });
  const auto same_place = [](const RuleMatch& a, const RuleMatch& b) {
    return a.begin == b.begin && a.form != nullptr && b.form != nullptr;
  };
  found.erase(std::unique(found.begin(), found.end(), same_place), found.end());
  return found;
}

}  // namespace mpsprobe
