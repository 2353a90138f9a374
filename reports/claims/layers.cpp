#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "harness/statistics/fisher.h"
#include "harness/wire/axis.h"
#include "reports/claims/comparisons.h"
#include "reports/claims/rate_claim.h"
#include "reports/expectations/version_range.h"

namespace mpsprobe {
namespace {

/// Each over the other.
constexpr std::array<std::pair<Backend, Backend>, 5> kLayers{{{Backend::mps, Backend::metal},
                                                              {Backend::mps, Backend::cuda},
                                                              {Backend::mps, Backend::cpu},
                                                              {Backend::cuda, Backend::cpu},
                                                              {Backend::sim, Backend::cpu}}};

// Of the one layer of two: "without PyTorch", "on CUDA".
std::string_view on_layer(Backend layer, Backend other) {
  if (layer == Backend::metal) return "without PyTorch";
  if (other == Backend::metal) return "with PyTorch";
  return layer == Backend::cpu    ? "on the CPU"
         : layer == Backend::cuda ? "on CUDA"
         : layer == Backend::sim  ? "on the simulated device"
                                  : "on MPS";
}

// The cell as it is on another backend. A profile means nothing but to the simulated device.
std::string on_backend(const Cell& cell, Backend backend) {
  Cell other = cell;
  other.backend = backend;
  other.profile = Cell{}.profile;
  return to_string(other);
}

// Two workers of one library, of which one calls it from Python, are two builds: the binding is
// part of what was tested.
bool same_library(const Arm& a, const Arm& b) {
  if (a.interpreter != b.interpreter || a.version != b.version) return false;
  if (!a.build_id.empty() && !b.build_id.empty()) return a.build_id == b.build_id;
  return a.path == b.path && a.version == b.version && a.git_hash == b.git_hash;
}

bool proved(const Arm& arm) {
  const bool named = !arm.build_id.empty() || !arm.path.empty() || !arm.git_hash.empty();
  return arm.proved && named;
}

std::string name_with_version(const Arm& arm) {
  const bool named = arm.version.empty() || arm.label.find(arm.version) != std::string::npos;
  return named ? arm.label : arm.label + " " + arm.version;
}

// What the processes of each arm called the device of each backend. A run that was resumed on
// another machine has different ones, also for arms of one and the same build.
class Devices {
 public:
  explicit Devices(const Analysis& analysis) {
    for (const CellSummary& cell : analysis.cells) {
      if (cell.counted == 0) continue;
      names_[cell.arm][cell.cell.backend].insert(cell.devices.begin(), cell.devices.end());
    }
  }

  bool are_the_same(const CellSummary& one, const CellSummary& two) const {
    const ByBackend& ones = names_.at(one.arm);
    const ByBackend& twos = names_.at(two.arm);
    for (const auto& [backend, names] : ones) {
      const auto other = twos.find(backend);
      if (other != twos.end() && other->second != names) return false;
    }
    // Both are Apple's GPU.
    if (one.cell.backend != Backend::mps || two.cell.backend != Backend::metal) return true;
    return one.devices.empty() || two.devices.empty() || one.devices == two.devices;
  }

 private:
  using ByBackend = std::map<Backend, std::set<std::string>>;
  std::map<size_t, ByBackend> names_;
};

class Pairs {
 public:
  explicit Pairs(const Analysis& analysis) : analysis_(analysis), devices_(analysis) {
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
    for (const auto& [above, below] : kLayers) {
      if (above != cell.cell.backend) continue;
      const auto at = by_id_.find(on_backend(cell.cell, below));
      if (at == by_id_.end()) continue;
      for (size_t lower : at->second) {
        // Apple's frameworks alone have no LibTorch that could be another one.
        const bool comparable = below == Backend::metal || analysis_.cells[lower].arm == cell.arm;
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
    if (!devices_.are_the_same(one, two)) {
      comparison.conclusion = Conclusion::other_device;
    } else {
      comparison.p = equality_p_value(analysis_.sampling, {one.failures, one.counted},
                                      {two.failures, two.counted});
      comparison.tested = one.failures + two.failures > 0;
    }
    comparison.simulated = one.simulated || two.simulated;
    if (one.failures > 0 && two.failures > 0) {
      comparison.same_signature = std::ranges::any_of(one.titles, [&two](const TitleCount& title) {
        return std::ranges::find(two.titles, title.signature, &TitleCount::signature) !=
               two.titles.end();
      });
    }
    found_.push_back(comparison);
  }

  const Analysis& analysis_;
  Devices devices_;
  std::map<std::string, std::vector<size_t>> by_id_;
  std::vector<Comparison> found_;
};

Conclusion conclude_layers(const CellSummary& upper, const CellSummary& lower, bool differs) {
  if (upper.failures == 0 && lower.failures == 0) return Conclusion::no_failure;
  if (upper.failures > 0 && lower.failures > 0) return Conclusion::also_below;
  if (const auto why = why_incomparable(upper, lower)) return *why;
  if (!differs) return Conclusion::too_few_trials;
  return upper.failures > 0 ? Conclusion::only_above : Conclusion::only_below;
}

Conclusion conclude_builds(const Analysis& analysis, const CellSummary& baseline,
                           const CellSummary& other, bool differs) {
  const Arm& one = analysis.arms[baseline.arm];
  const Arm& two = analysis.arms[other.arm];
  if (!proved(one) || !proved(two)) return Conclusion::unproved;
  if (same_library(one, two)) return Conclusion::same_build;
  if (baseline.failures == 0 && other.failures == 0) return Conclusion::no_failure;
  if (const auto why = why_incomparable(baseline, other)) return *why;
  if (!differs) return Conclusion::no_difference;
  return other.seen_rate() < baseline.seen_rate() ? Conclusion::less_often : Conclusion::more_often;
}

std::string needed_in_words(const Comparison& comparison) {
  if (!comparison.trials_needed) return "";
  return fmt::format(" (at the rate seen, {} trials a cell would tell)", *comparison.trials_needed);
}

// Of trials in which none failed: never that it cannot fail there.
std::string none_seen(const Analysis& analysis, const CellSummary& cell) {
  return fmt::format("none of {} seen (below {})", cell.counted,
                     percent_up(rate_interval(analysis.sampling, 0, cell.counted).high));
}

std::string words_of_layers(const Analysis& analysis, const Comparison& comparison) {
  const CellSummary& upper = analysis.cells[comparison.first];
  const CellSummary& lower = analysis.cells[comparison.second];
  if (comparison.conclusion == Conclusion::too_few_trials) {
    return "inconclusive: too few trials" + needed_in_words(comparison);
  }
  const bool above = comparison.conclusion == Conclusion::only_below;
  const std::string_view layer = above ? on_layer(upper.cell.backend, lower.cell.backend)
                                       : on_layer(lower.cell.backend, upper.cell.backend);
  if (comparison.conclusion != Conclusion::also_below) {
    return fmt::format("{} {}", none_seen(analysis, above ? upper : lower), layer);
  }
  return fmt::format("also {}{}", layer,
                     comparison.same_signature ? "" : ", but by other signatures");
}

std::string words_of_builds(const Analysis& analysis, const Comparison& comparison) {
  const CellSummary& first = analysis.cells[comparison.first];
  const CellSummary& second = analysis.cells[comparison.second];
  const std::string_view signatures = comparison.same_signature ? "" : "; by other signatures";
  if (!shows_difference(comparison)) {
    return fmt::format("no difference shown{}{}", needed_in_words(comparison), signatures);
  }
  const bool less = comparison.conclusion == Conclusion::less_often;
  const CellSummary& rarer = less ? second : first;
  const std::string name = name_with_version(analysis.arms[rarer.arm]);
  const std::string other = name_with_version(analysis.arms[(less ? first : second).arm]);
  const std::string p = p_in_words(comparison.corrected_p);
  if (rarer.failures == 0) return fmt::format("{} in {} ({})", none_seen(analysis, rarer), name, p);
  return fmt::format("rarer in {} than in {} ({}){}", name, other, p, signatures);
}

bool both_proved(const Analysis& analysis, const Comparison& comparison) {
  return proved(analysis.arms[analysis.cells[comparison.first].arm]) &&
         proved(analysis.arms[analysis.cells[comparison.second].arm]);
}

}  // namespace

std::vector<Comparison> compare_layers(const Analysis& analysis) {
  std::vector<Comparison> comparisons = Pairs(analysis).find();
  std::vector<double> p_values;
  std::vector<size_t> tested;
  for (size_t i = 0; i < comparisons.size(); ++i) {
    if (!comparisons[i].tested) continue;
    tested.push_back(i);
    p_values.push_back(comparisons[i].p);
  }
  const std::vector<double> corrected = holm_corrected(p_values);
  for (size_t i = 0; i < tested.size(); ++i) comparisons[tested[i]].corrected_p = corrected[i];

  for (Comparison& comparison : comparisons) {
    if (comparison.conclusion == Conclusion::other_device) {
      if (!comparison.layers && !both_proved(analysis, comparison)) {
        comparison.conclusion = Conclusion::unproved;
      }
      continue;
    }
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
        trials_to_tell(failing.seen_rate(), 0, kClaimLevel / static_cast<double>(tested.size()));
  }
  return comparisons;
}

bool is_older(const Arm& a, const Arm& b) {
  return a.name == b.name && !a.version.empty() && !b.version.empty() &&
         version_before(a.version, b.version) && !version_before(b.version, a.version);
}

bool shows_difference(const Comparison& comparison) {
  return comparison.conclusion == Conclusion::less_often ||
         comparison.conclusion == Conclusion::more_often;
}

std::string why_inconclusive(const Analysis& analysis, const Comparison& comparison) {
  const CellSummary& first = analysis.cells[comparison.first];
  const CellSummary& second = analysis.cells[comparison.second];
  const auto name = [&](const CellSummary& cell) {
    return comparison.layers ? std::string(name_of(cell.cell.backend))
                             : analysis.arms[cell.arm].label;
  };
  const CellSummary& spared = first.failures == 0 ? first : second;
  switch (comparison.conclusion) {
    case Conclusion::no_overlap:
      return "no two threads were ever inside an operation at once on " + name(spared);
    case Conclusion::other_path:
      return fmt::format("on {} another path was taken than the cell asks for",
                         name(took_another_path(first) ? first : second));
    case Conclusion::unchecked:
      return fmt::format("results were wrong, and on {} none was compared with the reference",
                         name(spared));
    case Conclusion::other_device:
      return "another device, or not said which; not tested";
    case Conclusion::no_failure:
      return "neither failed";
    case Conclusion::same_build:
      return "both workers loaded the same library";
    case Conclusion::unproved:
      return "it is not proved which library ran";
    default:
      return "";
  }
}

std::string conclusion_in_words(const Analysis& analysis, const Comparison& comparison) {
  const std::string why = why_inconclusive(analysis, comparison);
  const std::string words = !why.empty()        ? "inconclusive: " + why
                            : comparison.layers ? words_of_layers(analysis, comparison)
                                                : words_of_builds(analysis, comparison);
  return comparison.simulated ? "simulated: " + words : words;
}

}  // namespace mpsprobe
