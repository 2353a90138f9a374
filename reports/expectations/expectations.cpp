#include "reports/expectations/expectations.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <map>

#include "harness/crash_report/report_value.h"
#include "harness/input/input_error.h"
#include "harness/input/input_file.h"
#include "harness/input/json_text.h"
#include "harness/input/near_name.h"
#include "harness/input/placed_json.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {
namespace {

constexpr const char* kFormat = "The format is in docs/expectations.md";
constexpr std::string_view kDay = "2026-11-23";
constexpr int kMostTrials = 1'000'000'000;

std::string placed_text(const PlacedJson& node, const char* key) {
  if (!node.has(key)) return "";
  std::string text = node.at(key).text();
  if (text.empty()) node.at(key).fail("is empty", "Write something, or leave the key out");
  return text;
}

/// "2026-02-30" has the form of a day and is none.
bool is_moment(const std::string& text) {
  const double seconds = report_time(text.size() == kDay.size() ? text + "T00:00:00Z"
                                     : text.ends_with('Z')      ? text
                                                                : text + "Z");
  return seconds > 0 && text.find(' ') == text.npos &&
         text.starts_with(fmt::format("{:%F}", fmt::gmtime(static_cast<std::time_t>(seconds))));
}

std::string date_at(const PlacedJson& node, const char* key, bool with_time) {
  std::string text = placed_text(node, key);
  const bool formed = with_time || text.size() == kDay.size();
  if (text.empty() || (formed && is_moment(text))) return text;
  node.at(key).fail("is no date", with_time ? "Write 2026-11-23 or 2026-11-23T22:00:40Z, in UTC"
                                            : "Write it like 2026-11-23");
}

VersionRange range_at(const PlacedJson& node) {
  VersionRange range{placed_text(node, "from"), placed_text(node, "before")};
  if (!range.from.empty() && !range.before.empty() && !version_before(range.from, range.before)) {
    node.fail("holds no version", "\"from\" comes before \"before\", which is not one of them");
  }
  return range;
}

KnownWhere parse_where(const PlacedJson& node) {
  node.allow({"cells", "axes", "matrix", "worker", "code", "chip", "os", "os_build", "library",
              "simulated", "paravirtual"});
  KnownWhere where;
  if (node.has("cells")) {
    for (const PlacedJson& cell : node.at("cells").items()) {
      where.cells.push_back(cell.text());
      if (where.cells.back().find_first_of("*?[") != std::string::npos) continue;
      // Without a wildcard it is a cell, or a slip.
      cell.placed([&] { where.cells.back() = to_string(parse_cell(where.cells.back())); });
    }
    if (where.cells.empty()) node.at("cells").fail("names none", "Leave it out for any cell");
  }
  if (node.has("axes")) where.axes = {parse_axes(node.at("axes"))};
  where.matrix = placed_text(node, "matrix");
  where.worker = placed_text(node, "worker");
  where.code = placed_text(node, "code");
  where.chip = placed_text(node, "chip");
  where.os = placed_text(node, "os");
  if (node.has("os_build")) {
    node.at("os_build").allow({"from", "before"});
    where.os_build = range_at(node.at("os_build"));
  }
  if (node.has("library")) {
    const PlacedJson library = node.at("library");
    library.allow({"name", "from", "before"});
    where.library = library.at("name").text();
    where.versions = range_at(library);
  }
  if (node.has("simulated")) where.simulated = node.at("simulated").flag();
  if (node.has("paravirtual")) where.paravirtual = node.at("paravirtual").flag();
  return where;
}

void parse_what(const PlacedJson& node, KnownFailure& known) {
  if (node.has("signature") == node.has("outcome")) {
    node.fail("needs either \"signature\" or \"outcome\"", kFormat);
  }
  known.signature = placed_text(node, "signature");
  if (!node.has("outcome")) return;
  const std::string name = node.at("outcome").text();
  if (name == "any") return;
  known.outcome = named<Outcome>(name);
  if (!known.outcome) {
    node.at("outcome").fail(
        "is no outcome" + did_you_mean(name, kWordsOf<Outcome>),
        fmt::format("Write any, or one of {}", fmt::join(kWordsOf<Outcome>, ", ")));
  }
  if (!is_failure(*known.outcome)) {
    node.at("outcome").fail("is no failure", "Name an outcome that is one");
  }
}

KnownFailure parse_known(const PlacedJson& node) {
  node.allow({"where", "signature", "outcome", "failures", "trials", "first_seen", "last_seen",
              "until", "issue", "review_by", "owner"});
  KnownFailure known;
  known.where = parse_where(node.at("where"));
  parse_what(node, known);
  if (node.has("failures") != node.has("trials")) {
    node.fail("has one of \"failures\" and \"trials\"",
              "Write how many of how many failed, or leave both out");
  }
  if (node.has("trials")) {
    known.seen.trials = node.at("trials").count(1, kMostTrials);
    known.seen.failures = node.at("failures").count(1, known.seen.trials);
  }
  date_at(node, "first_seen", true);
  known.last_seen = date_at(node, "last_seen", true);
  known.until = date_at(node, "until", true);
  known.issue = placed_text(node, "issue");
  known.review_by = date_at(node, "review_by", false);
  known.owner = placed_text(node, "owner");
  return known;
}

}  // namespace

std::vector<KnownFailure> parse_expectations(const std::string& text, const std::string& place) {
  const nlohmann::json document = parse_once_keyed(text, place);
  const PlacedJson root(document, place, kFormat);
  root.allow({"$schema", "mpsprobe_expectations", "known", "recorded"});
  root.at("mpsprobe_expectations").count(1, 1);
  std::vector<KnownFailure> entries;
  std::map<std::string, std::string> places;  // of what was seen before
  for (const char* list : {"known", "recorded"}) {
    if (!root.has(list)) continue;
    const std::vector<PlacedJson> nodes = root.at(list).items();
    for (size_t i = 0; i < nodes.size(); ++i) {
      KnownFailure known = parse_known(nodes[i]);
      known.recorded = list == std::string_view("recorded");
      known.place = fmt::format("{}: {}[{}]", place, list, i);
      known.source = document.at(list).at(i);
      if (!known.where.cells.empty()) known.source["where"]["cells"] = known.where.cells;
      const auto [same, fresh] = places.emplace(identity_of(known), known.place);
      if (!fresh) {
        nodes[i].fail("is of the same place and failure as " + same->second,
                      "Make one entry of both");
      }
      entries.push_back(std::move(known));
    }
  }
  return entries;
}

std::string identity_of(const KnownFailure& known) {
  return ascii_json_text(nlohmann::json{known.source.at("where"),
                                        known.source.value("signature", ""),
                                        known.source.value("outcome", "")});
}

std::string read_expectations_file(const std::filesystem::path& file) {
  constexpr size_t kMostBytes = size_t{64} << 20;
  const char* const remedy = "Name a file of known failures; `mpsprobe expect update` begins one";
  std::string text = read_input_file(file, kMostBytes, remedy);
  if (text.empty()) throw InputError(file.string(), "is empty", remedy);
  return text;
}

}  // namespace mpsprobe
