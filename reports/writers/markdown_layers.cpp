#include <fmt/format.h>

#include <algorithm>

#include "harness/wire/axis.h"
#include "reports/claims/layers.h"
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

std::string table(const Analysis& analysis, bool layers, size_t most_rows) {
  const auto failing = std::count_if(
      analysis.comparisons.begin(), analysis.comparisons.end(), [&](const Comparison& each) {
        return each.layers == layers && something_failed(analysis, each);
      });
  const bool all = static_cast<size_t>(failing) <= most_rows;
  std::vector<std::vector<std::string>> rows{{"cell", layers ? "layer" : "first build",
                                              layers ? "layer below" : "other build", "p",
                                              "corrected p", "what it permits"}};
  size_t left = 0;
  size_t without_failure = 0;
  const Comparison* example = nullptr;
  for (const Comparison& comparison : analysis.comparisons) {
    if (comparison.layers != layers) continue;
    if (!something_failed(analysis, comparison)) {
      if (without_failure++ == 0) example = &comparison;
    } else if (rows.size() > most_rows || (!all && shows_nothing(comparison))) {
      ++left;
    } else {
      rows.push_back({cell_of(analysis, comparison),
                      side(analysis, comparison, first_of(analysis, comparison)),
                      side(analysis, comparison, second_of(analysis, comparison)),
                      p_number(comparison.p), p_number(comparison.corrected_p),
                      escaped(conclusion_in_words(analysis, comparison))});
    }
  }
  std::string text = rows.size() > 1 ? markdown_table(rows) + "\n" : "";
  if (left > 0) {
    text += fmt::format("{} more{} are in details.md.\n\n", left,
                        rows.size() <= most_rows ? ", which show no difference," : "");
  }
  if (example != nullptr) {
    text += fmt::format("Without a failure on either side: {}, for example {}: {}.\n\n",
                        counted(without_failure, "pairs"), cell_of(analysis, *example),
                        escaped(conclusion_in_words(analysis, *example)));
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

std::string markdown_layers(const Analysis& analysis, size_t most_rows) {
  if (analysis.comparisons.empty()) return "";
  const auto tested = std::count_if(analysis.comparisons.begin(), analysis.comparisons.end(),
                                    [](const Comparison& comparison) { return comparison.tested; });
  return fmt::format(
             "## What each layer showed\n\nFailures / trials of the same cell on two "
             "backends, or on two builds of the library. p is that of {}; "
             "corrected (Holm) for the pairs in which something failed, here {}. A "
             "difference is claimed below {:g}, and only of the cell in that row.\n\n",
             equality_method(analysis.sampling), tested, kClaimLevel) +
         table(analysis, true, most_rows) + table(analysis, false, most_rows);
}

}  // namespace mpsprobe
