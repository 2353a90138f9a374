#include "reports/writers/json.h"

#include <fmt/format.h>

#include <array>

#include "harness/journal/trial_json.h"
#include "reports/claims/boundary_fields.h"
#include "reports/words/report_words.h"
#include "reports/writers/json_findings.h"
#include "reports/writers/json_indent.h"

namespace mpsprobe {
namespace {

using nlohmann::ordered_json;

constexpr int kReportVersion = 2;
constexpr const char* kSchema = "https://mpsprobe.invalid/schema/report-2.json";

// In the order of the enums.
constexpr std::array kOverlaps{"not_applicable", "seen", "prevented", "none"};
constexpr std::array kExpected{"nothing", "met", "unmet", "untested"};

ordered_json object_or_null(const nlohmann::json& value) {
  return value.is_object() ? ordered_json(value) : ordered_json(nullptr);
}

ordered_json arm_json(const Arm& arm) {
  ordered_json json = {{"label", arm.label},
                       {"worker", arm.worker},
                       {"worker_path", arm.worker_path},
                       {"proved", arm.proved},
                       {"version", arm.version},
                       {"git_hash", arm.git_hash},
                       {"library_name", arm.library_name},
                       {"library", arm.library},
                       {"build_id", arm.build_id},
                       {"stream_pool", nullptr},
                       {"devices", arm.devices}};
  if (arm.stream_pool) json["stream_pool"] = *arm.stream_pool;
  if (!arm.interpreter.empty()) json["interpreter"] = arm.interpreter;
  return json;
}

ordered_json context_json(const Journal& journal, const Analysis& analysis) {
  const CampaignHeader& header = journal.header;
  ordered_json arms = ordered_json::array();
  for (const Arm& arm : analysis.arms) arms.push_back(arm_json(arm));
  ordered_json workers = ordered_json::array();
  for (const WorkerInfo& worker : header.workers) {
    workers.push_back({{"name", worker.name},
                       {"path", worker.path},
                       {"describe", object_or_null(worker.describe)}});
  }
  ordered_json started = ordered_json::object();
  for (size_t i = 0; i < analysis.starts.size(); ++i) {
    started[std::string(name_of(static_cast<StartProcess>(i)))] = analysis.starts[i];
  }
  ordered_json ends = ordered_json::array();
  for (const CampaignEnd& end : journal.ends) {
    ends.push_back({{"reason", end.reason}, {"ended", end.ended}, {"note", end.note}});
  }
  return {{"mpsprobe_version", header.mpsprobe_version},
          {"mpsprobe_build", header.mpsprobe_build},
          {"command_line", header.command_line},
          {"environment", header.environment},
          {"seed", std::to_string(header.seed)},
          {"started", header.started},
          {"ends", std::move(ends)},
          {"trials", header.trials},
          {"timeout_seconds", header.timeout_seconds},
          {"stall_seconds", header.stall_seconds},
          {"budget_seconds", header.budget_seconds},
          {"memory_limit_bytes", header.memory_limit_bytes},
          {"jobs", header.jobs},
          {"start_process", name_of(header.start_process)},
          {"processes_started", std::move(started)},
          {"max_failures", header.max_failures},
          {"machine", object_or_null(header.machine)},
          {"arms", std::move(arms)},
          {"workers", std::move(workers)}};
}

ordered_json cell_json(const Analysis& analysis, const CellSummary& cell) {
  ordered_json outcomes = ordered_json::array();
  for (const OutcomeCount& count : cell.outcomes) {
    outcomes.push_back(
        {{"outcome", name_of(count.outcome)}, {"detail", count.detail}, {"trials", count.trials}});
  }
  ordered_json json = {{"arm", analysis.arms[cell.arm].label},
                       {"cell", cell.id},
                       {"block", cell.block},
                       {"simulated", cell.simulated},
                       {"planned", cell.planned},
                       {"missing", cell.missing},
                       {"counted", cell.counted},
                       {"failures", cell.failures},
                       {"refused", cell.refused},
                       {"seconds", cell.seconds},
                       {"verdict", nullptr},
                       {"failure_rate", nullptr},
                       {"interval", nullptr},
                       {"outcomes", std::move(outcomes)},
                       {"expectation", nullptr},
                       {"expected", kExpected.at(static_cast<size_t>(cell.expected))},
                       {"overlap",
                        {{"state", kOverlaps.at(static_cast<size_t>(cell.overlap))},
                         {"most_inside", cell.most_inside},
                         {"launches", cell.launches},
                         {"overlapped", cell.overlapped}}},
                       {"operations_per_second", nullptr},
                       {"observed_paths", cell.observed_paths},
                       {"checked", cell.checked},
                       {"unchecked", cell.unchecked}};
  if (cell.inside.known()) {
    json["overlap"]["inside_seconds"] = cell.inside.inside_seconds;
    json["overlap"]["inside_cpu_seconds"] = cell.inside.inside_cpu_seconds;
    json["overlap"]["run_seconds"] = cell.inside.run_seconds;
    json["overlap"]["cpu_seconds"] = cell.inside.cpu_seconds;
  }
  if (!cell.also_in.empty()) json["also_in"] = cell.also_in;
  if (cell.verdict) {
    json["verdict"] = name_of(*cell.verdict);
  }
  if (cell.has_rate()) {
    json["failure_rate"] = static_cast<double>(cell.failures) / cell.counted;
    json["interval"] = interval_json(cell.rate);
  }
  if (cell.expectation) json["expectation"] = cell.expectation->text();
  if (cell.throughput) {
    json["operations_per_second"] = {{"median", cell.throughput->median},
                                     {"low", cell.throughput->low},
                                     {"high", cell.throughput->high},
                                     {"trials", cell.throughput->samples}};
  }
  return json;
}

ordered_json point_json(const BoundaryPoint& point) {
  return {{"count", point.count},
          {"counted", point.trials},
          {"failures", point.failures},
          {"interval", interval_json(point.rate)},
          {"without_overlap", point.without_overlap},
          {"most_inside", point.most_inside}};
}

ordered_json boundary_json(const Boundary& boundary) {
  ordered_json points = ordered_json::array();
  for (const BoundaryPoint& point : boundary.points) points.push_back(point_json(point));
  ordered_json json = {{"arm", boundary.worker},
                       {"axis", boundary.axis},
                       {"group", to_string(boundary.group)},
                       {"most_passing", nullptr},
                       {"fewest_failing", nullptr},
                       {"monotone", boundary.monotone()},
                       {"passing_above", boundary.passing_above},
                       {"settled", nullptr},
                       {"refused", boundary.refused},
                       {"untested", boundary.untested},
                       {"points", std::move(points)},
                       {"words", boundary_in_words(boundary)}};
  if (boundary.settled) {
    const SettledPlace& place = *boundary.settled;
    json["settled"] = {{"rate", place.rate},
                       {"is_settled", place.settled},
                       {"from", nullptr},
                       {"chance_of_a_wrong_answer", place.wrong}};
    if (place.from) json["settled"]["from"] = *place.from;
  }
  if (boundary.most_passing) json["most_passing"] = point_json(*boundary.most_passing);
  if (boundary.fewest_failing) json["fewest_failing"] = point_json(*boundary.fewest_failing);
  return json;
}

ordered_json answer_json(const Answer& answer) {
  ordered_json rows = ordered_json::array();
  for (const AnswerTable::Row& row : answer.table.rows) {
    rows.push_back({{"cells", row.cells}, {"by", row.axis}, {"builds", row.fields}});
  }
  return {{"code", answer.code},
          {"text", answer.text},
          {"sentences", answer.sentences},
          {"next", answer.next},
          {"builds", answer.table.builds},
          {"rows", std::move(rows)},
          {"rows_left_out", answer.table.left_out}};
}

ordered_json settling_json(const Analysis& analysis) {
  const SettledQuestions& questions = *analysis.settling;
  ordered_json open = ordered_json::array();
  for (const SettledQuestions::Open& each : questions.open) {
    const CellSummary& cell = analysis.cells[each.summary];
    open.push_back({{"arm", analysis.arms[cell.arm].label},
                    {"cell", cell.id},
                    {"axis", each.axis},
                    {"further_trials", each.further}});
  }
  return {{"rate", questions.rate},
          {"chance_of_a_wrong_answer", questions.wrong},
          {"settled", questions.settled},
          {"given_up", questions.given_up},
          {"open", std::move(open)}};
}

}  // namespace

ordered_json report_json(const Journal& journal, const Analysis& analysis) {
  ordered_json json = {{"$schema", kSchema},
                       {"mpsprobe_report", kReportVersion},
                       {"answer", answer_json(analysis.answer)},
                       {"simulated", analysis.simulated},
                       {"complete", analysis.complete},
                       {"planned", analysis.planned},
                       {"recorded", analysis.recorded},
                       {"counted", analysis.counted},
                       {"failures", analysis.failures},
                       {"refused", analysis.refused},
                       {"seconds", analysis.seconds},
                       {"cells_not_listed", analysis.cells_not_listed},
                       {"interval_method", interval_method(analysis.sampling)},
                       {"context", context_json(journal, analysis)},
                       {"matrix",
                        {{"name", analysis.header.matrix_name},
                         {"description", analysis.header.matrix_description}}}};
  const auto list = [&json](const char* name, const auto& items, const auto& one) {
    ordered_json& array = json[name] = ordered_json::array();
    for (const auto& item : items) array.push_back(one(item));
  };
  const auto coded = [](const auto& each) {
    return ordered_json{{"code", each.code}, {"text", each.text}};
  };
  list("warnings", analysis.warnings, coded);
  list("advice", analysis.advice, coded);
  list("boundaries", analysis.boundaries, boundary_json);
  list("cells", analysis.cells, [&](const auto& each) { return cell_json(analysis, each); });
  list("signatures", analysis.signatures,
       [&](const auto& each) { return signature_json(analysis, each); });
  add_groups_json(analysis, json);
  list("claims", analysis.rate_claims,
       [&](const auto& each) { return rate_claim_json(analysis, each); });
  if (!analysis.claims_together.empty()) {
    list("claims_together", analysis.claims_together,
         [&](const auto& each) { return rate_claim_json(analysis, each); });
  }
  list("layers", analysis.comparisons,
       [&](const auto& each) { return comparison_json(analysis, each); });
  list("left_out", analysis.left_out, [](const LeftOutGroup& group) {
    return ordered_json{{"reason", group.reason}, {"cells", group.cells}, {"others", group.others}};
  });
  if (analysis.settling) json["settling"] = settling_json(analysis);
  json["provenances"] = ordered_json::object();
  json["image_sets"] = ordered_json::object();
  for (const auto& [id, provenance] : journal.provenances) {
    json["provenances"][id] = object_or_null(provenance);
  }
  for (const auto& [id, images] : journal.image_sets) {
    ordered_json& set = json["image_sets"][id] = ordered_json::array();
    for (const ImageSeen& image : images) set.push_back({{"path", image.path}, {"id", image.id}});
  }
  json["trials"] = ordered_json::array();  // the last member: see write_report_json
  return json;
}

std::string json_text(const ordered_json& value) {
  return value.dump(1, ' ', true, ordered_json::error_handler_t::replace) + "\n";
}

namespace {

/// Trials as members of a list, to the sink as they come.
class TrialList {
 public:
  explicit TrialList(const Sink& sink) : sink_(sink) {}

  void add(std::string_view compact) {
    constexpr size_t kEnough = 1 << 20;
    constexpr size_t kDepth = 2;
    text_ += any_ ? ",\n  " : "\n  ";
    any_ = true;
    append_indented(compact, kDepth, text_);
    if (text_.size() < kEnough) return;
    sink_(text_);
    text_.clear();
  }

  void end() {
    sink_(text_);
    if (any_) sink_("\n ");
  }

 private:
  const Sink& sink_;
  std::string text_;
  bool any_ = false;
};

}  // namespace

void write_report_json(const Journal& journal, const Analysis& analysis, const Sink& sink) {
  constexpr auto kReplace = nlohmann::json::error_handler_t::replace;
  const std::string whole = json_text(report_json(journal, analysis));
  constexpr std::string_view kEnd = "]\n}\n";  // of the list of trials, which is the last member
  sink(std::string_view(whole).substr(0, whole.size() - kEnd.size()));
  TrialList list(sink);
  if (journal.stored) {
    journal.stored->for_each_json([&list](std::string_view json) { list.add(json); });
  } else {
    for (const TrialRecord& trial : journal.trials) {
      list.add(trial_to_json(trial).dump(-1, ' ', false, kReplace));
    }
  }
  list.end();
  sink(kEnd);
}

}  // namespace mpsprobe
