#include "harness/journal/header_json.h"

#include <cmath>

#include "harness/input/input_error.h"
#include "harness/journal/header_fields.h"
#include "harness/journal/record_json.h"
#include "harness/wire/axis.h"

namespace mpsprobe {
namespace {

using nlohmann::json;

[[noreturn]] void refuse_header(const char* problem) {
  throw InputError("campaign", problem, "The journal is damaged");
}

/// Each a single cell, or a grid: what a block multiplies, and which of the products are cells.
void write_cells(const PlannedCells& cells, json& object) {
  json list = json::array();
  for (const PlannedCells::Piece& piece : cells.pieces()) {
    if (const auto* grid = std::get_if<CellGrid>(&piece)) {
      list.push_back(record_to_json(*grid));
      continue;
    }
    for (const PlannedCell& planned : std::get<PlannedCells::Singles>(piece)) {
      list.push_back(record_to_json(planned));
    }
  }
  object["cells"] = std::move(list);
  json& rules = object["expect"] = json::array();
  for (const Matrix::ExpectRule& rule : cells.rules()) {
    rules.push_back(
        {{"where", rule.selector.where}, {"expectation", record_to_json(rule.expectation)}});
  }
}

void read_cells(const json& object, PlannedCells& cells) {
  for (const json& planned : object.at("cells")) {
    if (planned.contains("axes")) {
      cells.push_back(value_from_json<CellGrid>(planned));
    } else {
      cells.push_back(value_from_json<PlannedCell>(planned));
    }
  }
  std::vector<Matrix::ExpectRule> rules;
  for (const json& rule : object.value("expect", json::array())) {  // old versions have none
    AxisValues where = rule.at("where");
    for (const auto& [axis, values] : where) axis_named(axis);
    rules.push_back({{std::move(where)}, value_from_json<Expectation>(rule.at("expectation"))});
  }
  cells.expect(std::move(rules));
}

/// What only some runs have; the others say nothing of it.
void read_parts(CampaignHeader& header, const json& object) {
  // Without a word every process was executed, as in journals of earlier releases.
  if (const auto start = object.find("start_process"); start != object.end()) {
    const std::string word = *start;
    header.start_process = named<StartProcess>(word);
    if (!header.start_process.has_value() && word != kQuickestStart) {
      throw InputError("campaign", "an unknown way to start processes",
                       "The journal is of another version of mpsprobe");
    }
  }
  if (!object.contains("shard")) return;
  const json& shard = object.at("shard");
  header.shard = value_from_json<Shard>(shard);
  read_cells(shard.at("whole"), header.whole);
  if (header.shard->count > 10'000 || header.shard->index >= header.shard->count) {
    refuse_header("its shard is out of range");
  }
}

}  // namespace

json header_to_json(const CampaignHeader& header) {
  json object = record_to_json(header);
  write_cells(header.cells, object);
  if (header.start_process != StartProcess::exec) {
    object["start_process"] = name_of(header.start_process);
  }
  if (header.shard) {
    object["shard"] = record_to_json(*header.shard);
    write_cells(header.whole, object["shard"]["whole"]);
  }
  return object;
}

CampaignHeader header_from_json(const json& object) {
  auto header = value_from_json<CampaignHeader>(object);
  // A journal may come from anywhere; what is run or multiplied must be what a run can have.
  for (const double seconds : {header.timeout_seconds, header.stall_seconds}) {
    if (!std::isfinite(seconds) || seconds < 0) refuse_header("a time limit is out of range");
  }
  if (header.trials < 1 || header.trials > 1'000'000 || header.jobs < 1 || header.jobs > 64) {
    refuse_header("trials or jobs out of range");
  }
  if (header.workers.empty()) refuse_header("no worker");
  read_cells(object, header.cells);
  read_parts(header, object);
  return header;
}

}  // namespace mpsprobe
