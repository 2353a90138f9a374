#include "reports/expectations/write_expectations.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/input/json_text.h"
#include "reports/expectations/expectation_words.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {
namespace {

using nlohmann::ordered_json;

constexpr const char* kSchema = "https://mpsprobe.invalid/schema/expectations-1.json";

/// Where the value of the key "recorded" stands in an object: its first byte and the one behind it.
struct Span {
  size_t begin = std::string::npos;
  size_t end = std::string::npos;
};

/// The text is known to be JSON.
Span recorded_in(const std::string& text) {
  using Event = nlohmann::json::parse_event_t;
  Span span;
  bool of_recorded = false;
  std::istringstream stream(text);
  const auto see = [&](int depth, Event event, const nlohmann::json& parsed) {
    if (depth != 1) return true;
    const auto at = static_cast<size_t>(stream.tellg());
    if (event == Event::key) of_recorded = parsed == "recorded";
    if (of_recorded && event == Event::array_start) span.begin = at - 1;
    if (of_recorded && event == Event::array_end) span.end = at;
    return true;
  };
  [[maybe_unused]] const nlohmann::json seen = nlohmann::json::parse(stream, see);
  return span;
}

/// Indented as it stands in the file.
std::string block_text(const std::vector<KnownFailure>& recorded) {
  ordered_json list = ordered_json::array();
  for (const KnownFailure& known : recorded) {
    list.push_back({{"where", known.source.at("where")}});
    list.back().update(known.source);
  }
  std::string text;
  for (const char c : ascii_json_text(list, 2)) {
    text += c;
    if (c == '\n') text += "  ";
  }
  return text;
}

std::string with_block(std::string text, const std::vector<KnownFailure>& recorded) {
  const std::string block = block_text(recorded);
  if (text.empty()) {
    return fmt::format(
        "{{\n  \"$schema\": \"{}\",\n  \"mpsprobe_expectations\": 1,\n  \"known\": [],\n"
        "  \"recorded\": {}\n}}\n",
        kSchema, block);
  }
  if (const Span span = recorded_in(text); span.begin != std::string::npos) {
    return text.replace(span.begin, span.end - span.begin, block);
  }
  if (recorded.empty()) return text;
  const size_t last = text.find_last_not_of(" \t\r\n", text.rfind('}') - 1);
  return text.insert(last + 1, ",\n  \"recorded\": " + block);
}

std::string label_of(const KnownFailure& known) {
  return where_words(known.where) + ": " + what_of(known);
}

std::string counts_text(const Proportion& seen) {
  return fmt::format("{}/{}", seen.failures, seen.trials);
}

void set_seen(KnownFailure& known, const Proportion& seen, const std::string& last_seen,
              const std::string& until) {
  known.seen = seen;
  known.source.update({{"failures", seen.failures},
                       {"trials", seen.trials},
                       {"last_seen", last_seen},
                       {"until", until}});
}

KnownFailure entry_of(const UnknownFailure& failure, const RunFacts& run) {
  KnownFailure known;
  known.where.cells = {failure.cell};
  known.where.worker = failure.arm;
  known.signature = failure.signature;
  nlohmann::json where = {{"cells", {failure.cell}}, {"worker", failure.arm}};
  if (!run.code.empty()) where["code"] = run.code;
  if (const std::string chip = machine_fact(run, "chip"); !chip.empty()) where["chip"] = chip;
  if (failure.simulated) where["simulated"] = true;
  known.source = {{"where", where}, {"signature", failure.signature}, {"first_seen", run.started}};
  set_seen(known, failure.seen, run.started, run.started);
  return known;
}

/// With what was seen further of it. Nothing where that says nothing new.
std::optional<KnownFailure> updated(const KnownFailure& known, const JudgedEntry& judged,
                                    const std::string& started) {
  if (judged.further.trials == 0) return std::nullopt;
  KnownFailure now = known;
  const bool drifted =
      judged.standing == EntryStanding::more_often || judged.standing == EntryStanding::less_often;
  const Proportion all{known.seen.failures + judged.further.failures,
                       known.seen.trials + judged.further.trials};
  set_seen(now, drifted && judged.since_then.failures > 0 ? judged.since_then : all,
           judged.last_seen, started);
  return now;
}

}  // namespace

ExpectationsUpdate update_expectations(const std::string& text, const std::string& place,
                                       const std::vector<KnownFailure>& known, const RunFacts& run,
                                       const Findings& findings) {
  ExpectationsUpdate update;
  std::map<std::string, KnownFailure> recorded;  // sorted by where and what
  std::map<std::string, std::string> changes;
  for (const KnownFailure& each : known) {
    if (each.recorded) recorded[identity_of(each)] = each;
  }
  const size_t before = recorded.size();
  size_t touched = 0;
  for (const JudgedEntry& judged : findings.entries) {
    const KnownFailure& each = known[judged.entry];
    if (!each.recorded) continue;
    const std::string id = identity_of(each);
    if (judged.standing == EntryStanding::unseen) {
      recorded.erase(id);
      changes[id] = fmt::format("- {}: not seen for long, {} since it was last seen",
                                label_of(each), counts_text(judged.further));
      ++touched;
    } else if (const auto now = updated(each, judged, run.started)) {
      recorded[id] = *now;
      changes[id] = fmt::format("~ {}: {} -> {}", label_of(each), counts_text(each.seen),
                                counts_text(now->seen));
      ++touched;
    }
  }
  for (const UnknownFailure& failure : findings.unknown) {
    const KnownFailure fresh = entry_of(failure, run);
    const std::string id = identity_of(fresh);
    recorded[id] = fresh;
    changes[id] = fmt::format("+ {}: {}", label_of(fresh), counts_text(fresh.seen));
  }
  std::vector<KnownFailure> block;
  for (const auto& [id, each] : recorded) block.push_back(each);
  for (const auto& [id, line] : changes) update.changes.push_back(line);
  update.unchanged = static_cast<int>(before - touched);
  update.text = with_block(text, block);
  parse_expectations(update.text, place);
  return update;
}

}  // namespace mpsprobe
