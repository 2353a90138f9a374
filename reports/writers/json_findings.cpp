#include "reports/writers/json_findings.h"

#include <array>

#include "harness/journal/trial_json.h"
#include "reports/claims/layers.h"
#include "reports/groups/group_words.h"
#include "reports/writers/markdown_sections.h"

namespace mpsprobe {
namespace {

using nlohmann::ordered_json;

ordered_json example_json(const Analysis& analysis, const FailureExample& example) {
  const std::string id = to_string(example.cell);
  ordered_json gpu_events = ordered_json::array();
  for (const GpuEvent& event : example.gpu_events)
    gpu_events.emplace_back(gpu_event_to_json(event));
  ordered_json json = {{"arm", analysis.arms[example.arm].label},
                       {"cell", id},
                       {"trial", example.trial},
                       {"judgement", judgement_to_json(example.judgement)},
                       {"process", example.process},
                       {"ended_by", name_of(example.ended_by)},
                       {"recorder", recorder_to_json(example.recorder)},
                       {"stacks", stacks_to_json(example.stacks)},
                       {"crash_report", nullptr},
                       {"gpu_events", std::move(gpu_events)},
                       {"event", nullptr},
                       {"excerpt", example.excerpt},
                       {"rerun", rerun_command(analysis, example.arm, id)}};
  if (example.crash_report) json["crash_report"] = crash_report_to_json(*example.crash_report);
  if (example.event) json["event"] = failure_to_json(*example.event);
  return json;
}

ordered_json side_json(const Analysis& analysis, size_t index) {
  const CellSummary& cell = analysis.cells[index];
  return {{"arm", analysis.arms[cell.arm].label},
          {"cell", cell.id},
          {"failures", cell.failures},
          {"counted", cell.counted}};
}

}  // namespace

ordered_json interval_json(const Interval& interval) {
  return {{"low", interval.low}, {"high", interval.high}, {"confidence", 0.95}};
}

ordered_json signature_json(const Analysis& analysis, const SignatureGroup& group) {
  ordered_json cells = ordered_json::array();
  for (const SignatureGroup::Where& where : group.cells) {
    cells.push_back({{"arm", analysis.arms[where.arm].label},
                     {"cell", where.cell},
                     {"failures", where.failures},
                     {"counted", where.counted}});
  }
  ordered_json before = ordered_json::array();
  for (const auto& [cell, trials] : group.before) {
    before.push_back({{"cell", cell}, {"trials", trials}});
  }
  ordered_json also = ordered_json::array();
  for (const SignatureGroup::Beside& beside : group.also) {
    also.push_back({{"title", beside.finding.title},
                    {"known", beside.finding.known},
                    {"trials", beside.trials}});
  }
  ordered_json related = ordered_json::array();
  for (size_t other : group.related) related.push_back(analysis.signatures[other].title);
  ordered_json alike = ordered_json::array();
  for (size_t other : group.alike) alike.push_back(analysis.signatures[other].title);
  ordered_json json = {{"title", group.title},
                       {"known", group.known},
                       {"basis", name_of(group.basis)},
                       {"failures", group.failures},
                       {"phases", group.phases},
                       {"cells", std::move(cells)},
                       {"before", std::move(before)},
                       {"also", std::move(also)},
                       {"also_left_out", group.also_left_out},
                       {"related", std::move(related)},
                       {"related_left_out", group.related_left_out},
                       {"first", example_json(analysis, group.first)}};
  if (!alike.empty()) json["alike"] = std::move(alike);
  return json;
}

ordered_json rate_claim_json(const Analysis& analysis, const RateClaim& claim) {
  ordered_json cells = ordered_json::array();
  for (size_t i = 0; i < claim.cells_with.size(); ++i) {
    cells.push_back({{"with", side_json(analysis, claim.cells_with[i])},
                     {"without", side_json(analysis, claim.cells_without[i])}});
  }
  ordered_json json = {{"about", claim.about},
                       {"with", claim.with},
                       {"without", claim.without},
                       {"label", claim.label},
                       {"cells", std::move(cells)},
                       {"p", claim.p},
                       {"corrected_p", claim.corrected_p},
                       {"of", claim.of},
                       {"says", name_of(claim.effect)},
                       {"price", nullptr},
                       {"words", in_words(claim)}};
  if (claim.price) {
    const Price& price = *claim.price;
    json["price"] = {{"threads", price.threads},
                     {"ratio", price.ratio},
                     {"interval", interval_json(price.within)},
                     {"pairs", price.pairs}};
  }
  return json;
}

void add_groups_json(const Analysis& analysis, ordered_json& report) {
  constexpr std::array kNeeds{"needed", "goes_on", "not_shown"};  // in the order of the enum
  const FailureGroups found = find_groups(analysis);
  report["groups"] = report["failing_operations"] = ordered_json::array();
  for (const FailureGroup& group : found.groups) {
    report["groups"].push_back({{"arm", analysis.arms[group.arm].label},
                                {"operations", group.operations},
                                {"words", group_in_words(analysis, found, group)}});
  }
  const auto counts = [](const Proportion& seen) {
    return ordered_json{{"failures", seen.failures}, {"counted", seen.trials}};
  };
  for (size_t i = 0; i < found.operations.size(); ++i) {
    const FailingOperation& operation = found.operations[i];
    ordered_json conditions = ordered_json::array();
    for (const ConditionSeen& condition : operation.conditions) {
      conditions.push_back({{"condition", condition.words},
                            {"says", kNeeds.at(static_cast<size_t>(condition.need))},
                            {"without", counts(condition.without)},
                            {"p", condition.p},
                            {"corrected_p", condition.corrected_p},
                            {"of", found.tests}});
    }
    ordered_json titles = ordered_json::array();
    for (const size_t each : operation.signatures)
      titles.push_back(analysis.signatures[each].title);
    report["failing_operations"].push_back({{"arm", analysis.arms[operation.arm].label},
                                            {"operation", operation.label},
                                            {"cell", analysis.cells[operation.worst].id},
                                            {"seen", counts(operation.seen)},
                                            {"conditions", std::move(conditions)},
                                            {"signatures", std::move(titles)},
                                            {"would_tell", operation.telling},
                                            {"words", operations_in_words(analysis, found, {i})}});
  }
}

ordered_json comparison_json(const Analysis& analysis, const Comparison& comparison) {
  ordered_json json = {{"kind", comparison.layers ? "layers" : "builds"},
                       {"first", side_json(analysis, comparison.first)},
                       {"second", side_json(analysis, comparison.second)},
                       {"p", comparison.p},
                       {"corrected_p", comparison.corrected_p},
                       {"conclusion", name_of(comparison.conclusion)},
                       {"same_signature", nullptr},
                       {"trials_needed", nullptr},
                       {"simulated", comparison.simulated},
                       {"words", conclusion_in_words(analysis, comparison)}};
  const bool both_failed = analysis.cells[comparison.first].failures > 0 &&
                           analysis.cells[comparison.second].failures > 0;
  if (both_failed) json["same_signature"] = comparison.same_signature;
  if (comparison.trials_needed) json["trials_needed"] = *comparison.trials_needed;
  return json;
}

}  // namespace mpsprobe
