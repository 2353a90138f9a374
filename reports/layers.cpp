#include "reports/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "harness/statistics/fisher.h"
#include "harness/wire/axis.h"

namespace mpsprobe {
namespace {

struct LayerPair {
  Backend upper;
  Backend lower;
  std::string_view also;   ///< what may be said where both failed
  std::string_view only;   ///< ... where only the upper one did
  std::string_view below;  ///< ... where only the lower one did
};

constexpr std::array<LayerPair, 5> kLayers{{
    {Backend::mps, Backend::metal, "also without PyTorch", "only with PyTorch",
     "without PyTorch, and not with it"},
    {Backend::mps, Backend::cuda, "also on CUDA", "not on CUDA", "on CUDA, and not on MPS"},
    {Backend::mps, Backend::cpu, "also on the CPU", "not on the CPU", "on the CPU, and not on MPS"},
    {Backend::cuda, Backend::cpu, "also on the CPU", "not on the CPU",
     "on the CPU, and not on CUDA"},
    {Backend::sim, Backend::cpu, "also on the CPU", "not on the CPU",
     "on the CPU, and not on the simulated device"},
}};

const LayerPair& pair_of(Backend upper, Backend lower) {
  return *std::find_if(kLayers.begin(), kLayers.end(), [upper, lower](const LayerPair& pair) {
    return pair.upper == upper && pair.lower == lower;
  });
}

// The cell as it is on another backend. A profile means nothing but to the simulated device.
std::string on_backend(const Cell& cell, Backend backend) {
  Cell other = cell;
  other.backend = backend;
  other.profile = Cell{}.profile;
  return to_string(other);
}

bool same_library(const Arm& a, const Arm& b) {
  if (!a.build_id.empty() && !b.build_id.empty()) return a.build_id == b.build_id;
  return a.library == b.library && a.version == b.version && a.git_hash == b.git_hash;
}

bool proved(const Arm& arm) {
  const bool named = !arm.build_id.empty() || !arm.library.empty() || !arm.git_hash.empty();
  return arm.proved && named;
}

// Every title that a cell of an arm failed with.
std::map<std::pair<size_t, std::string>, std::set<size_t>> titles_by_cell(
    const Analysis& analysis) {
  std::map<std::pair<size_t, std::string>, std::set<size_t>> titles;
  for (size_t i = 0; i < analysis.signatures.size(); ++i) {
    for (const SignatureGroup::Where& where : analysis.signatures[i].cells) {
      titles[{where.arm, where.cell}].insert(i);
    }
  }
  return titles;
}

class Pairs {
 public:
  explicit Pairs(const Analysis& analysis)
      : analysis_(analysis), titles_(titles_by_cell(analysis)) {
    for (size_t i = 0; i < analysis.cells.size(); ++i) {
      if (analysis.cells[i].counted > 0) by_id_[analysis.cells[i].id].push_back(i);
    }
  }

  std::vector<Comparison> find() {
    for (size_t i = 0; i < analysis_.cells.size(); ++i) {
      if (analysis_.cells[i].counted == 0) continue;
      find_layers_below(i);
      find_other_builds(i);
    }
    return std::move(found_);
  }

 private:
  void find_layers_below(size_t upper) {
    const CellSummary& cell = analysis_.cells[upper];
    for (const LayerPair& pair : kLayers) {
      if (pair.upper != cell.cell.backend) continue;
      const auto at = by_id_.find(on_backend(cell.cell, pair.lower));
      if (at == by_id_.end()) continue;
      for (size_t lower : at->second) {
        // Apple's frameworks alone have no LibTorch that could be another one.
        const bool comparable =
            pair.lower == Backend::metal || analysis_.cells[lower].arm == cell.arm;
        if (comparable) add(true, upper, lower);
      }
    }
  }

  void find_other_builds(size_t baseline) {
    const CellSummary& cell = analysis_.cells[baseline];
    const std::string& worker = analysis_.arms[cell.arm].worker;
    if (worker != analysis_.arms.front().worker) return;
    for (size_t other : by_id_.at(cell.id)) {
      if (analysis_.arms[analysis_.cells[other].arm].worker != worker) add(false, baseline, other);
    }
  }

  void add(bool layers, size_t first, size_t second) {
    const CellSummary& one = analysis_.cells[first];
    const CellSummary& two = analysis_.cells[second];
    Comparison comparison;
    comparison.layers = layers;
    comparison.first = first;
    comparison.second = second;
    comparison.p = fisher_exact({one.failures, one.counted}, {two.failures, two.counted});
    comparison.simulated = one.simulated || two.simulated;
    if (one.failures > 0 && two.failures > 0) {
      const std::set<size_t>& titles = titles_[{two.arm, two.id}];
      const std::set<size_t>& others = titles_[{one.arm, one.id}];
      comparison.same_signature = std::any_of(
          others.begin(), others.end(), [&titles](size_t title) { return titles.contains(title); });
    }
    found_.push_back(comparison);
  }

  const Analysis& analysis_;
  std::map<std::pair<size_t, std::string>, std::set<size_t>> titles_;
  std::map<std::string, std::vector<size_t>> by_id_;
  std::vector<Comparison> found_;
};

// What may be said where exactly one side failed, and chance is ruled out or not.
Conclusion one_sided(const CellSummary& spared, bool differs, Conclusion claim) {
  if (spared.overlap == Overlap::none) return Conclusion::no_overlap;
  return differs ? claim : Conclusion::too_few_trials;
}

Conclusion conclude_layers(const CellSummary& upper, const CellSummary& lower, bool differs) {
  if (upper.failures == 0 && lower.failures == 0) return Conclusion::no_failure;
  if (upper.failures > 0 && lower.failures > 0) return Conclusion::also_below;
  if (upper.failures > 0) return one_sided(lower, differs, Conclusion::only_above);
  return one_sided(upper, differs, Conclusion::only_below);
}

Conclusion conclude_builds(const Analysis& analysis, const CellSummary& baseline,
                           const CellSummary& other, bool differs) {
  const Arm& one = analysis.arms[baseline.arm];
  const Arm& two = analysis.arms[other.arm];
  if (!proved(one) || !proved(two)) return Conclusion::unproved;
  if (same_library(one, two)) return Conclusion::same_build;
  if (baseline.failures == 0 && other.failures == 0) return Conclusion::no_failure;
  if (other.failures == 0) {
    if (other.overlap == Overlap::none) return Conclusion::no_overlap;
    return differs ? Conclusion::fixed : Conclusion::no_difference;
  }
  if (!differs) return Conclusion::no_difference;
  const double before = static_cast<double>(baseline.failures) / baseline.counted;
  const double now = static_cast<double>(other.failures) / other.counted;
  return now < before ? Conclusion::less_often : Conclusion::more_often;
}

std::string needed_in_words(const Comparison& comparison) {
  if (!comparison.trials_needed) return "";
  return fmt::format(" (at the rate seen, {} trials a cell would tell)", *comparison.trials_needed);
}

std::string words_of_layers(const Analysis& analysis, const Comparison& comparison) {
  const CellSummary& upper = analysis.cells[comparison.first];
  const CellSummary& lower = analysis.cells[comparison.second];
  const LayerPair& pair = pair_of(upper.cell.backend, lower.cell.backend);
  switch (comparison.conclusion) {
    case Conclusion::also_below:
      return fmt::format("{}{}", pair.also,
                         comparison.same_signature ? "" : ", but by other signatures");
    case Conclusion::only_above:
      return std::string(pair.only);
    case Conclusion::only_below:
      return std::string(pair.below);
    case Conclusion::no_overlap:
      return fmt::format("inconclusive: no two threads were ever inside an operation at once on {}",
                         name_of((upper.failures == 0 ? upper : lower).cell.backend));
    case Conclusion::no_failure:
      return "inconclusive: neither failed";
    default:
      return "inconclusive: too few trials" + needed_in_words(comparison);
  }
}

std::string words_of_builds(const Comparison& comparison) {
  const std::string_view signatures =
      comparison.same_signature ? "" : "; by other signatures than the baseline";
  switch (comparison.conclusion) {
    case Conclusion::fixed:
      return fmt::format("fixed: the baseline failed in the same run, p = {:.2g}",
                         comparison.corrected_p);
    case Conclusion::less_often:
      return fmt::format("fails less often than the baseline, and is not fixed{}", signatures);
    case Conclusion::more_often:
      return fmt::format("fails more often than the baseline{}", signatures);
    case Conclusion::no_overlap:
      return "inconclusive: no two threads were ever inside an operation at once";
    case Conclusion::no_failure:
      return "inconclusive: the baseline did not fail either";
    case Conclusion::same_build:
      return "inconclusive: both workers loaded the same library";
    case Conclusion::unproved:
      return "inconclusive: it is not proved which library ran";
    default:
      return fmt::format("no difference shown{}{}", needed_in_words(comparison), signatures);
  }
}

}  // namespace

std::vector<Comparison> compare_layers(const Analysis& analysis) {
  std::vector<Comparison> comparisons = Pairs(analysis).find();
  std::vector<double> p_values;
  std::vector<size_t> tested;
  for (size_t i = 0; i < comparisons.size(); ++i) {
    const Comparison& comparison = comparisons[i];
    if (analysis.cells[comparison.first].failures + analysis.cells[comparison.second].failures == 0)
      continue;
    tested.push_back(i);
    p_values.push_back(comparison.p);
  }
  const std::vector<double> corrected = holm_corrected(p_values);
  for (size_t i = 0; i < tested.size(); ++i) comparisons[tested[i]].corrected_p = corrected[i];

  for (Comparison& comparison : comparisons) {
    const CellSummary& first = analysis.cells[comparison.first];
    const CellSummary& second = analysis.cells[comparison.second];
    const bool differs = comparison.corrected_p < kClaimLevel;
    comparison.conclusion = comparison.layers ? conclude_layers(first, second, differs)
                                              : conclude_builds(analysis, first, second, differs);
    const bool open = comparison.conclusion == Conclusion::too_few_trials ||
                      comparison.conclusion == Conclusion::no_difference;
    if (!open || (first.failures > 0 && second.failures > 0)) continue;
    const CellSummary& failing = first.failures > 0 ? first : second;
    // The first step of Holm's correction asks the most: what passes it passes in any order.
    comparison.trials_needed =
        trials_to_tell_from_none(static_cast<double>(failing.failures) / failing.counted,
                                 kClaimLevel / static_cast<double>(tested.size()));
  }
  return comparisons;
}

std::string conclusion_in_words(const Analysis& analysis, const Comparison& comparison) {
  const std::string words =
      comparison.layers ? words_of_layers(analysis, comparison) : words_of_builds(comparison);
  return comparison.simulated ? "simulated: " + words : words;
}

std::string_view name_of(Conclusion conclusion) {
  switch (conclusion) {
    case Conclusion::also_below:
      return "also_below";
    case Conclusion::only_above:
      return "only_above";
    case Conclusion::only_below:
      return "only_below";
    case Conclusion::fixed:
      return "fixed";
    case Conclusion::less_often:
      return "less_often";
    case Conclusion::more_often:
      return "more_often";
    case Conclusion::no_difference:
      return "no_difference";
    default:
      return "inconclusive";
  }
}

}  // namespace mpsprobe
