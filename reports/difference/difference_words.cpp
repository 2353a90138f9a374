#include "reports/difference/difference_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/statistics/anytime.h"
#include "reports/words/counted.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {
namespace {

using nlohmann::ordered_json;

constexpr size_t kMostListed = 20;

/// In the order in which they are listed: what stands above them, and what each is called alone.
struct KindWords {
  Change change;
  std::string_view heading;
  std::string_view alone;
};
constexpr std::array<KindWords, 9> kKinds{
    {{Change::new_failure, "new: failed never before", "new"},
     {Change::more_often, "fail more often", "more often"},
     {Change::new_signature, "fail in a new way", "fails in a new way"},
     {Change::none_seen, "none seen any more: failed before, and more seldom now", "none seen"},
     {Change::less_often, "fail less often", "less often"},
     {Change::signature_unseen, "not seen any more in this way", "not seen in this way"},
     {Change::refused, "refused by the library, more often than before (neither pass nor failure)",
      "refused more often"},
     {Change::refused_less, "refused by the library less often than before", "refused less often"},
     {Change::unclear, "cannot tell", "cannot be told"}}};

std::string side(const RunFacts& run) {
  std::string text = printable(run.name) + ", " + printable(run.started);
  for (const auto& [label, arm] : run.arms) {
    text += ", " + printable(label) + ": " + shortened(printable(arm.library), 120);
  }
  if (run.undone > 0) {
    text += fmt::format("; incomplete: {} of {} planned trials have no answer", run.undone,
                        run.planned);
  }
  return text;
}

std::string counts(const CellChange& change) {
  return fmt::format("{}/{} -> {}/{}", change.before.failures, change.before.trials,
                     change.after.failures, change.after.trials);
}

// What was not seen is not gone.
std::string bound(const CellChange& change) {
  if (change.change != Change::none_seen && change.change != Change::signature_unseen) return "";
  return fmt::format(" (below {})",
                     percent_up(rate_interval(Sampling::fixed, 0, change.after.trials).high));
}

std::string where(const RunFacts& run, const CellChange& change) {
  return (run.arms.size() > 1 ? printable(change.arm) + ": " : "") + printable(change.cell);
}

void list_cells(std::string& text, std::string_view heading,
                const std::vector<std::string>& cells) {
  if (cells.empty()) return;
  text += fmt::format("\n{} ({})\n", heading, cells.size());
  for (size_t i = 0; i < cells.size() && i < kMostListed; ++i) {
    text += "  " + printable(cells[i]) + "\n";
  }
  if (cells.size() > kMostListed)
    text += fmt::format("  and {} more\n", cells.size() - kMostListed);
}

ordered_json change_json(const CellChange& change) {
  ordered_json json = {
      {"change", name_of(change.change)},
      {"arm", change.arm},
      {"cell", change.cell},
      {"signature", change.title},
      {"before", {{"failures", change.before.failures}, {"counted", change.before.trials}}},
      {"after", {{"failures", change.after.failures}, {"counted", change.after.trials}}},
      {"p", change.p},
      {"corrected_p", change.corrected_p},
      {"more_trials", nullptr},
      {"simulated", change.simulated}};
  if (change.more_trials) json["more_trials"] = *change.more_trials;
  return json;
}

ordered_json side_json_of(const RunFacts& run) {
  ordered_json arms = ordered_json::object();
  for (const auto& [label, arm] : run.arms) {
    arms[label] = {{"library", arm.library}, {"devices", arm.devices}};
  }
  return {{"run", run.name},        {"started", run.started}, {"machine", run.machine},
          {"planned", run.planned}, {"undone", run.undone},   {"arms", arms}};
}

}  // namespace

std::string_view in_words(Change change) {
  return std::find_if(kKinds.begin(), kKinds.end(),
                      [change](const KindWords& kind) { return kind.change == change; })
      ->alone;
}

std::string difference_text(const RunFacts& before, const RunFacts& after,
                            const Difference& difference) {
  std::string text = difference.simulated ? "SIMULATED: nothing about Apple's software\n" : "";
  text += "before: " + side(before) + "\nafter:  " + side(after) + "\n";
  for (const KindWords& kind : kKinds) {
    bool first = true;
    for (const CellChange& change : difference.changes) {
      if (change.change != kind.change) continue;
      if (first) text += fmt::format("\n{}\n", kind.heading);
      first = false;
      text += fmt::format("  {}  {}{}  {}\n", where(after, change), counts(change), bound(change),
                          shortened(printable(change.title), 160));
    }
  }
  if (!difference.unclear.empty()) {
    text += fmt::format("\ncannot tell ({})\n", difference.unclear.size());
  }
  for (size_t i = 0; i < difference.unclear.size() && i < kMostListed; ++i) {
    const CellChange& change = difference.unclear[i];
    text += fmt::format("  {}  {}: {}\n", where(after, change), counts(change),
                        change.more_trials ? fmt::format("{} more of each side, at these rates",
                                                         counted(*change.more_trials, "trials"))
                                           : "a million trials would not do");
  }
  if (difference.unclear.size() > kMostListed) {
    text += fmt::format("  and {} more\n", difference.unclear.size() - kMostListed);
  }
  list_cells(text, "only after", difference.came);
  list_cells(text, "only before", difference.went);
  list_cells(text, "not as the matrix expects, after", difference.unexpected);
  text += fmt::format(
      "\n{} compared, {} claimed: of such claims, on average, at most {:.0f}% are false\n",
      counted(difference.compared, "cells"), counted(difference.changes.size(), "changes"),
      kFalseDiscoveries * 100);
  return text;
}

ordered_json difference_json(const RunFacts& before, const RunFacts& after,
                             const Difference& difference) {
  ordered_json json = {{"mpsprobe_difference", 2},
                       {"simulated", difference.simulated},
                       {"before", side_json_of(before)},
                       {"after", side_json_of(after)},
                       {"compared", difference.compared},
                       {"tested", difference.tested},
                       {"false_discovery_rate", kFalseDiscoveries}};
  json["changes"] = json["unclear"] = ordered_json::array();
  for (const CellChange& change : difference.changes)
    json["changes"].push_back(change_json(change));
  for (const CellChange& change : difference.unclear)
    json["unclear"].push_back(change_json(change));
  json["came"] = difference.came;
  json["went"] = difference.went;
  json["unexpected"] = difference.unexpected;
  return json;
}

}  // namespace mpsprobe
