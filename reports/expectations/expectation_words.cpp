#include "reports/expectations/expectation_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "reports/words/counted.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {
namespace {

using nlohmann::ordered_json;

constexpr size_t kMostListedEach = 40;

/// In the order in which they are listed: what stands above them, and what each is called alone.
struct StandingWords {
  EntryStanding standing;
  std::string_view heading;
  std::string_view alone;
};
constexpr std::array<StandingWords, 6> kStandingWords{
    {{EntryStanding::more_often, "more often than known", "MORE OFTEN than known"},
     {EntryStanding::unseen,
      "not seen for long, their rate is far lower now: take them out, or `mpsprobe expect "
      "update`",
      "not seen for long"},
     {EntryStanding::less_often, "less often than known", "less often than known"},
     {EntryStanding::as_known, "as known", "as known"},
     {EntryStanding::silent, "not seen, which their rates permit", "not seen"},
     {EntryStanding::not_run, "no trial of their cells counts", "not run"}}};

std::string share(const Proportion& seen) {
  return fmt::format("{}/{}", seen.failures, seen.trials);
}

std::string day(const std::string& moment) {
  return moment.substr(0, std::string_view("2026-11-23").size());
}

// Since when it fails more or less often, or not at all.
std::string since_words(const JudgedEntry& judged) {
  std::string text;
  if (!judged.since.empty()) {
    text += fmt::format("; since {}: {}", day(judged.since), share(judged.since_then));
  }
  const bool unseen =
      judged.standing == EntryStanding::silent || judged.standing == EntryStanding::unseen;
  if (unseen && !judged.last_seen.empty()) text += "; last seen " + day(judged.last_seen);
  return text;
}

std::string entry_line(const KnownFailure& known, const JudgedEntry& judged) {
  std::string text =
      fmt::format("  {}  {}  {}", where_words(known.where), share(judged.tonight), what_of(known));
  if (known.seen.trials > 0) text += fmt::format("; known: {}", share(known.seen));
  text += since_words(judged);
  if (!known.issue.empty()) text += "; " + printable(known.issue);
  if (!known.owner.empty()) text += "; " + printable(known.owner);
  if (judged.expired) text += "; EXPIRED: review was due by " + printable(known.review_by);
  return text + "\n";
}

void tell_unknown(std::string& text, const Findings& findings) {
  if (findings.unknown.empty()) return;
  text += fmt::format("\nnew: no entry knows them ({})\n", findings.unknown.size());
  for (size_t i = 0; i < findings.unknown.size() && i < kMostListedEach; ++i) {
    const UnknownFailure& failure = findings.unknown[i];
    text += fmt::format("  {}{} ({})  {}  {}{}\n", failure.simulated ? "SIMULATED " : "",
                        printable(failure.cell), printable(failure.arm), share(failure.seen),
                        shortened(printable(failure.signature), 160),
                        failure.otherwise_known ? "; known there is another failure" : "");
  }
  if (findings.unknown.size() > kMostListedEach) {
    text += fmt::format("  and {} more\n", findings.unknown.size() - kMostListedEach);
  }
}

}  // namespace

std::string standing_in_words(const JudgedEntry& judged) {
  const auto words =
      std::find_if(kStandingWords.begin(), kStandingWords.end(),
                   [&](const auto& each) { return each.standing == judged.standing; });
  return std::string(words->alone) + since_words(judged) + (judged.expired ? "; EXPIRED" : "");
}

std::string where_words(const KnownWhere& where) {
  std::vector<std::string> parts = where.cells;
  for (const auto& [axis, values] : where.axes.where) {
    parts.push_back(axis + "=" + joined(values, ","));
  }
  std::string text = parts.empty() ? "any cell" : printable(joined(parts));
  if (!where.worker.empty()) text += " (" + printable(where.worker) + ")";
  return shortened(text, 160);
}

std::string what_of(const KnownFailure& known) {
  if (!known.signature.empty()) return shortened(printable(known.signature), 120);
  return known.outcome ? fmt::format("any {}", name_of(*known.outcome)) : "any failure";
}

std::string findings_text(const std::vector<KnownFailure>& known, const RunFacts& run,
                          const Findings& findings) {
  std::string text = run.simulated ? "SIMULATED: nothing about Apple's software\n" : "";
  text += fmt::format("{}, {}: {} of {} known failures looked at\n", printable(run.name),
                      printable(run.started), findings.entries.size(), known.size());
  tell_unknown(text, findings);
  for (const auto& [standing, words, alone] : kStandingWords) {
    size_t count = 0;
    for (const JudgedEntry& judged : findings.entries) count += judged.standing == standing ? 1 : 0;
    if (count == 0) continue;
    text += fmt::format("\n{} ({})\n", words, count);
    size_t listed = 0;
    for (const JudgedEntry& judged : findings.entries) {
      if (judged.standing != standing || ++listed > kMostListedEach) continue;
      text += entry_line(known[judged.entry], judged);
    }
    if (count > kMostListedEach) text += fmt::format("  and {} more\n", count - kMostListedEach);
  }
  return text;
}

ordered_json findings_json(const std::vector<KnownFailure>& known, const RunFacts& run,
                           const Findings& findings) {
  const auto share_json = [](const Proportion& seen) {
    return ordered_json{{"failures", seen.failures}, {"trials", seen.trials}};
  };
  ordered_json json = {{"mpsprobe_findings", 1},
                       {"run", run.name},
                       {"started", run.started},
                       {"simulated", run.simulated},
                       {"expected_failures", findings.expected},
                       {"new", ordered_json::array()},
                       {"entries", ordered_json::array()}};
  for (const UnknownFailure& failure : findings.unknown) {
    json["new"].push_back({{"arm", failure.arm},
                           {"cell", failure.cell},
                           {"signature", failure.signature},
                           {"seen", share_json(failure.seen)},
                           {"simulated", failure.simulated},
                           {"otherwise_known", failure.otherwise_known}});
  }
  for (const JudgedEntry& judged : findings.entries) {
    const KnownFailure& each = known[judged.entry];
    ordered_json entry = {{"entry", each.place},
                          {"standing", name_of(judged.standing)},
                          {"expired", judged.expired},
                          {"seen", share_json(judged.tonight)},
                          {"known", share_json(each.seen)},
                          {"further", share_json(judged.further)},
                          {"last_seen", judged.last_seen},
                          {"issue", each.issue}};
    if (!judged.since.empty()) entry["since"] = judged.since;
    json["entries"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace mpsprobe
