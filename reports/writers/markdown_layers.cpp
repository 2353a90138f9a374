#include <fmt/format.h>

#include <algorithm>

#include "harness/wire/axis.h"
#include "reports/claims/comparisons.h"
#include "reports/words/counted.h"
#include "reports/words/report_words.h"
#include "reports/words/safe_text.h"
#include "reports/writers/answer_tables.h"
#include "reports/writers/markdown_sections.h"

namespace mpsprobe {
namespace {

const CellSummary& first_of(const Analysis& analysis, const Comparison& comparison) {
  return analysis.cells[comparison.first];
}
const CellSummary& second_of(const Analysis& analysis, const Comparison& comparison) {
  return analysis.cells[comparison.second];
}

bool something_failed(const Analysis& analysis, const Comparison& comparison) {
  return first_of(analysis, comparison).failures + second_of(analysis, comparison).failures > 0;
}

// "mps 10/10", or "stock 10/10" between builds; both where neither alone says which it is.
std::string side(const Analysis& analysis, const Comparison& comparison, const CellSummary& cell) {
  const Arm& arm = analysis.arms[cell.arm];
  const bool same_arm = first_of(analysis, comparison).arm == second_of(analysis, comparison).arm;
  std::string name = escaped(arm.label, 60);
  if (comparison.layers) {
    name = std::string(name_of(cell.cell.backend)) + (same_arm ? "" : " (" + name + ")");
  } else if (!arm.version.empty()) {
    name += " " + code_span(arm.version, 40);
  }
  return fmt::format("{} {}/{}", name, cell.failures, cell.counted);
}

// The cell without its backend, where that is what differs.
std::string cell_of(const Analysis& analysis, const Comparison& comparison) {
  const std::string& id = first_of(analysis, comparison).id;
  return code_span(comparison.layers ? id.substr(id.find('/') + 1) : id);
}

bool shows_nothing(const Comparison& comparison) {
  return comparison.conclusion == Conclusion::no_difference ||
         comparison.conclusion == Conclusion::too_few_trials;
}

/// Those in which something failed, what shows a difference first; of the others how many there
/// are.
std::string pairs(const Analysis& analysis, size_t most_rows, std::string_view rest) {
  std::vector<const Comparison*> failing;
  for (const Comparison& each : analysis.comparisons) {
    if (something_failed(analysis, each)) failing.push_back(&each);
  }
  const size_t without = analysis.comparisons.size() - failing.size();
  const size_t shown = std::min(failing.size(), most_rows);
  if (shown < failing.size()) {
    std::stable_partition(failing.begin(), failing.end(),
                          [](const Comparison* each) { return !shows_nothing(*each); });
  }
  std::vector<std::vector<std::string>> rows{
      {"cell", "one", "other", "p", "corrected p", "what it permits"}};
  for (size_t i = 0; i < shown; ++i) {
    const Comparison& each = *failing[i];
    rows.push_back({cell_of(analysis, each), side(analysis, each, first_of(analysis, each)),
                    side(analysis, each, second_of(analysis, each)), p_number(each.p),
                    p_number(each.corrected_p), escaped(conclusion_in_words(analysis, each))});
  }
  std::string text = shown == 0 ? "" : markdown_table(rows) + "\n";
  if (shown < failing.size()) {
    text += fmt::format("and {} in {}\n\n", counted(failing.size() - shown, "more pairs"), rest);
  }
  if (without > 0) {
    text += fmt::format("Without a failure on either side: {}.\n\n", counted(without, "pairs"));
  }
  return text;
}

}  // namespace

std::string markdown_rate_claims(const Analysis& analysis) {
  if (analysis.rate_claims.empty()) return "";
  std::vector<std::vector<std::string>> rows{
      {"cells", "with", "failed", "without", "failed", "p", "what it permits"}};
  for (const auto* claims : {&analysis.rate_claims, &analysis.claims_together}) {
    for (const RateClaim& claim : *claims) {
      std::string says(effect_in_words(claim.effect));
      if (claim.price) says += "; " + prices_in_words({&claim});
      rows.push_back({escaped(claim.label), escaped(claim.with),
                      seen_in_words(claim.seen_with, claim.refused_with), escaped(claim.without),
                      seen_in_words(claim.seen_without, claim.refused_without),
                      p_number(claim.corrected_p), escaped(says)});
    }
  }
  return fmt::format(
             "## {}What each setting changed\n\nCells that are the same but for one axis, matched "
             "by their thread count. p is exact, two-sided, over the thread counts, and corrected "
             "(Holm) for the {} made; a difference is claimed below {:g}.\n\n",
             class_prefix(analysis), counted(analysis.rate_claims.front().of, "comparisons"),
             kClaimLevel) +
         markdown_table(rows) + "\n";
}

std::string markdown_layers(const Analysis& analysis, size_t most_rows, std::string_view rest) {
  if (analysis.comparisons.empty()) return "";
  const auto tested = std::count_if(analysis.comparisons.begin(), analysis.comparisons.end(),
                                    [](const Comparison& comparison) { return comparison.tested; });
  return fmt::format(
             "## What each layer showed\n\nFailures / trials of the same cell on two "
             "backends, or on two builds of the library. p is that of {}; "
             "corrected (Holm) for the pairs in which something failed, here {}. A "
             "difference is claimed below {:g}, and only of the cell in that row.\n\n",
             equality_method(analysis.sampling), tested, kClaimLevel) +
         pairs(analysis, most_rows, rest);
}

}  // namespace mpsprobe
