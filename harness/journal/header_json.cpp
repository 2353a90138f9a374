#include "harness/journal/header_json.h"

#include <cmath>

#include "harness/wire/axis.h"
#include "harness/wire/input_error.h"

namespace mpsprobe {
namespace {

using nlohmann::json;

json expectation_to_json(const std::optional<Expectation>& expectation) {
  if (!expectation.has_value()) return nullptr;
  json object{{"detail", expectation->detail}};
  if (expectation->verdict) object["verdict"] = name_of(*expectation->verdict);
  if (expectation->outcome) object["outcome"] = name_of(*expectation->outcome);
  return object;
}

std::optional<Expectation> expectation_from_json(const json& object) {
  if (object.is_null()) return std::nullopt;
  Expectation expectation;
  expectation.detail = object.at("detail");
  if (object.contains("verdict")) {
    expectation.verdict = verdict_named(object.at("verdict").get<std::string>()).value();
  }
  if (object.contains("outcome")) {
    expectation.outcome = outcome_named(object.at("outcome").get<std::string>()).value();
  }
  return expectation;
}

json rules_to_json(const std::vector<Matrix::ExpectRule>& rules) {
  json list = json::array();
  for (const Matrix::ExpectRule& rule : rules) {
    list.push_back(
        {{"where", rule.selector.where}, {"expectation", expectation_to_json(rule.expectation)}});
  }
  return list;
}

// A single cell, or a grid: what a block multiplies, and which of the products are cells.
json cells_to_json(const PlannedCells& cells) {
  json list = json::array();
  for (const PlannedCells::Piece& piece : cells.pieces()) {
    if (const auto* grid = std::get_if<CellGrid>(&piece)) {
      list.push_back({{"block", grid->block}, {"axes", grid->axes}, {"kept", grid->kept}});
      if (!grid->again.empty()) list.back()["again"] = grid->again;
      continue;
    }
    for (const PlannedCell& planned : std::get<PlannedCells::Singles>(piece)) {
      list.push_back({{"cell", to_string(planned.cell)},
                      {"block", planned.block},
                      {"expectation", expectation_to_json(planned.expectation)}});
    }
  }
  return list;
}

void read_cells(const json& object, PlannedCells& cells) {
  for (const json& planned : object.at("cells")) {
    if (planned.contains("axes")) {
      cells.push_back(CellGrid{planned.at("block"), planned.at("axes"), planned.at("kept"),
                               planned.value("again", decltype(CellGrid::again){})});
    } else {
      cells.push_back(PlannedCell{parse_cell(planned.at("cell").get<std::string>()),
                                  planned.at("block"),
                                  expectation_from_json(planned.at("expectation"))});
    }
  }
  std::vector<Matrix::ExpectRule> rules;
  for (const json& rule : object.value("expect", json::array())) {  // old versions have none
    const auto expectation = expectation_from_json(rule.at("expectation"));
    AxisValues where = rule.at("where");
    for (const auto& [axis, values] : where) {
      if (find_axis(axis) == nullptr) {
        throw InputError("campaign", "an expectation names no axis", "The journal is damaged");
      }
    }
    rules.push_back({{std::move(where)}, expectation.value()});
  }
  cells.expect(std::move(rules));
}

/// What only some runs have; the others say nothing of it.
void read_parts(CampaignHeader& header, const json& object) {
  // Without a word every process was executed, as in journals of earlier releases.
  if (const auto start = object.find("start_process"); start != object.end()) {
    const std::string word = *start;
    header.start_process = start_process_named(word);
    if (!header.start_process.has_value() && word != kQuickestStart) {
      throw InputError("campaign", "an unknown way to start processes",
                       "The journal is of another version of mpsprobe");
    }
  }
  if (object.contains("merged_from")) header.merged_from = object.at("merged_from");
  header.origin = object.value("origin", "");  // old versions say none
  if (!object.contains("shard")) return;
  const json& shard = object.at("shard");
  header.shard = Shard{shard.at("index"), shard.at("count")};
  read_cells(shard.at("whole"), header.whole);
  if (header.shard->count <= 10'000 && header.shard->index < header.shard->count) return;
  throw InputError("campaign", "its shard is out of range", "The journal is damaged");
}

}  // namespace

json header_to_json(const CampaignHeader& header) {
  json workers = json::array();
  for (const WorkerInfo& worker : header.workers) {
    workers.push_back(
        {{"name", worker.name}, {"path", worker.path}, {"describe", worker.describe}});
  }
  json left_out = json::array();
  for (const LeftOut& cell : header.left_out) {
    left_out.push_back({{"cell", cell.cell}, {"reason", cell.reason}});
    if (cell.others > 0) left_out.back()["others"] = cell.others;
  }
  json object = {{"mpsprobe_version", header.mpsprobe_version},
                 {"mpsprobe_build", header.mpsprobe_build},
                 {"started", header.started},
                 {"command_line", header.command_line},
                 {"seed", header.seed},
                 {"trials", header.trials},
                 {"timeout_seconds", header.timeout_seconds},
                 {"stall_seconds", header.stall_seconds},
                 {"budget_seconds", header.budget_seconds},
                 {"memory_limit_bytes", header.memory_limit_bytes},
                 {"jobs", header.jobs},
                 {"max_failures", header.max_failures},
                 {"environment", header.environment},
                 {"crash_reports", header.crash_reports},
                 {"machine", header.machine},
                 {"workers", workers},
                 {"matrix_name", header.matrix_name},
                 {"matrix_description", header.matrix_description},
                 {"cells", cells_to_json(header.cells)},
                 {"expect", rules_to_json(header.cells.rules())},
                 {"left_out", left_out}};
  if (header.settle_rate > 0) object["settle_rate"] = header.settle_rate;
  if (header.start_process != StartProcess::exec) {
    object["start_process"] = name_of(header.start_process);
  }
  if (!header.merged_from.empty()) object["merged_from"] = header.merged_from;
  if (!header.origin.empty()) object["origin"] = header.origin;
  if (header.shard) {
    object["shard"] = {{"index", header.shard->index},
                       {"count", header.shard->count},
                       {"whole",
                        {{"cells", cells_to_json(header.whole)},
                         {"expect", rules_to_json(header.whole.rules())}}}};
  }
  return object;
}

CampaignHeader header_from_json(const json& object) {
  CampaignHeader header;
  header.mpsprobe_version = object.at("mpsprobe_version");
  header.mpsprobe_build = object.value("mpsprobe_build", "");  // old versions say none
  header.started = object.at("started");
  header.command_line = object.at("command_line");
  header.seed = object.at("seed");
  header.trials = object.at("trials");
  header.settle_rate = object.value("settle_rate", 0.0);  // of a fixed plan nothing is said
  header.timeout_seconds = object.at("timeout_seconds");
  header.stall_seconds = object.at("stall_seconds");
  header.budget_seconds = object.at("budget_seconds");
  header.memory_limit_bytes = object.at("memory_limit_bytes");
  header.jobs = object.at("jobs");
  header.max_failures = object.value("max_failures", 0);  // journals of old versions have none
  header.environment = object.at("environment");
  header.crash_reports = object.at("crash_reports");
  // A journal may come from anywhere; what is run or multiplied must be what a run can have.
  for (const double seconds : {header.timeout_seconds, header.stall_seconds}) {
    if (std::isfinite(seconds) && seconds >= 0) continue;
    throw InputError("campaign", "a time limit is out of range", "The journal is damaged");
  }
  if (header.trials < 1 || header.trials > 1'000'000 || header.jobs < 1 || header.jobs > 64) {
    throw InputError("campaign", "trials or jobs out of range", "The journal is damaged");
  }
  header.machine = object.at("machine");
  for (const json& worker : object.at("workers")) {
    header.workers.push_back({worker.at("name"), worker.at("path"), worker.at("describe")});
  }
  header.matrix_name = object.at("matrix_name");
  header.matrix_description = object.at("matrix_description");
  if (header.workers.empty()) {
    throw InputError("campaign", "no worker", "The journal is damaged");
  }
  read_cells(object, header.cells);
  read_parts(header, object);
  for (const json& cell : object.at("left_out")) {
    header.left_out.push_back(
        {cell.at("cell"), cell.at("reason"), cell.value("others", size_t{0})});
  }
  return header;
}

}  // namespace mpsprobe
