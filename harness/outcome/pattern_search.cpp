#include "harness/outcome/pattern_search.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "harness/text/fragment_search.h"

namespace mpsprobe {
namespace {

// The automaton of all fragments, and for each the patterns that wait for it.
class PatternSearch {
 public:
  static const PatternSearch& instance() {
    static const PatternSearch search;
    return search;
  }

  std::vector<Match> scan(std::string_view text, size_t& work) const {
    std::vector<Match> matches;
    // reached[stage]: the latest place from which the fragments up to this one were seen in order.
    // The latest is always the best: it leaves the most of the window.
    struct Span {
      size_t begin = 0;
      size_t end = 0;  // 0: not seen
    };
    std::vector<std::array<Span, 4>> reached(patterns().size());
    work += text.size();
    search_.scan(text, [&](size_t fragment, size_t end) {
      for (const Use& use : uses_[fragment]) {
        ++work;
        const Pattern& pattern = patterns()[use.pattern];
        std::array<Span, 4>& spans = reached[use.pattern];
        const size_t begin = end - pattern.fragments[use.stage].size();
        Span span{begin, end};
        if (use.stage > 0) {
          const Span& before = spans[use.stage - 1];
          if (before.end == 0 || before.end > begin || end - before.begin > pattern.window)
            continue;
          span.begin = before.begin;
        }
        if (use.last) {
          matches.push_back({&pattern, span.begin, end});
          spans = {};
        } else {
          spans[use.stage] = span;
        }
      }
    });
    std::stable_sort(matches.begin(), matches.end(),
                     [](const Match& a, const Match& b) { return a.begin < b.begin; });
    return matches;
  }

 private:
  struct Use {
    size_t pattern;
    size_t stage;
    bool last;
  };

  PatternSearch() : PatternSearch(index()) {}
  using Index = std::pair<std::vector<std::string_view>, std::vector<std::vector<Use>>>;
  explicit PatternSearch(Index index) : search_(index.first), uses_(std::move(index.second)) {}

  static Index index() {
    Index result;
    std::map<std::string_view, size_t> known;
    for (size_t row = 0; row < patterns().size(); ++row) {
      const auto& fragments = patterns()[row].fragments;
      for (size_t stage = 0; stage < fragments.size() && !fragments[stage].empty(); ++stage) {
        const auto [place, added] = known.try_emplace(fragments[stage], result.first.size());
        if (added) {
          result.first.push_back(fragments[stage]);
          result.second.emplace_back();
        }
        const bool last = stage + 1 == fragments.size() || fragments[stage + 1].empty();
        result.second[place->second].push_back({row, stage, last});
      }
    }
    return result;
  }

  FragmentSearch search_;
  std::vector<std::vector<Use>> uses_;  // by fragment
};

}  // namespace

std::vector<Match> find_patterns(std::string_view text, size_t& work) {
  return PatternSearch::instance().scan(text, work);
}

}  // namespace mpsprobe
