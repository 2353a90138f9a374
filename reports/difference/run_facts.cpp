#include "reports/difference/run_facts.h"

#include "harness/input/input_error.h"
#include "harness/input/json_shape.h"
#include "harness/wire/own_command.h"
#include "reports/words/counted.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {
namespace {

std::string build_in_words(const std::string& name, const std::string& version,
                           const std::string& hash, const std::string& id) {
  return joined({joined({name, version}, " "), hash, id.empty() ? "" : "build id " + id});
}

CellFacts cell_facts(const nlohmann::json& json) {
  CellFacts facts;
  facts.cell = parse_cell(json.at("cell").get<std::string>());
  facts.planned = json.at("planned").get<int>();
  facts.counted = json.at("counted").get<int>();
  facts.failures = json.at("failures").get<int>();
  facts.refused = json.value("refused", 0);
  facts.simulated = json.at("simulated").get<bool>();
  facts.unexpected = json.at("expected") == "unmet";
  if (facts.failures < 0 || facts.failures > facts.counted || facts.refused < 0) {
    throw InputError("", "failed more often than it ran", "");
  }
  return facts;
}

void read_report(RunFacts& facts, const nlohmann::json& report) {
  const nlohmann::json& context = report.at("context");
  facts.started = context.at("started").get<std::string>();
  facts.matrix = report.at("matrix").at("name").get<std::string>();
  facts.code = own_code_in(context.value("environment", std::vector<std::string>{}));
  facts.machine = context.at("machine");
  facts.simulated = report.at("simulated").get<bool>();
  if (report.contains("settling")) facts.sampling = Sampling::looking;
  facts.planned = report.at("planned").get<int>();
  facts.undone = std::max(0, facts.planned - report.at("recorded").get<int>());
  for (const nlohmann::json& arm : context.at("arms")) {
    const auto text = [&arm](const char* key) { return arm.at(key).get<std::string>(); };
    facts.arms[text("label")] = {
        build_in_words(text("library_name"), text("version"), text("git_hash"), text("build_id")),
        joined(arm.at("devices").get<std::vector<std::string>>()), text("library_name"),
        text("version"), arm.value("packages", std::vector<std::string>())};
  }
  for (const nlohmann::json& cell : report.at("cells")) {
    facts.cells[{cell.at("arm").get<std::string>(), cell.at("cell").get<std::string>()}] =
        cell_facts(cell);
  }
  for (const nlohmann::json& signature : report.at("signatures")) {
    const auto title = signature.at("title").get<std::string>();
    for (const nlohmann::json& where : signature.at("cells")) {
      facts.cells.at({where.at("arm").get<std::string>(), where.at("cell").get<std::string>()})
          .titles[title] = where.at("failures").get<int>();
    }
  }
}

}  // namespace

std::string machine_fact(const RunFacts& run, const char* key) {
  return text_at(run.machine, key);
}

RunFacts run_facts(const std::string& name, const Analysis& analysis) {
  RunFacts facts;
  facts.name = name;
  facts.started = analysis.header.started;
  facts.matrix = analysis.header.matrix_name;
  facts.code = own_code_in(analysis.header.environment);
  facts.machine = analysis.header.machine;
  facts.simulated = analysis.simulated;
  facts.sampling = analysis.sampling;
  facts.planned = analysis.planned;
  facts.undone = analysis.undone;
  for (const Arm& arm : analysis.arms) {
    facts.arms[arm.label] = {build_in_words(arm.name, arm.version, arm.git_hash, arm.build_id),
                             joined(arm.devices), arm.name, arm.version, arm.packages};
  }
  for (const SignatureGroup& signature : analysis.signatures) {
    facts.outcomes[signature.title] = signature.first.judgement.outcome;
  }
  for (const CellSummary& cell : analysis.cells) {
    CellFacts& each = facts.cells[{analysis.arms[cell.arm].label, cell.id}];
    each = {cell.cell,
            cell.planned,
            cell.counted,
            cell.failures,
            cell.refused,
            cell.simulated,
            cell.paravirtual,
            cell.expected == Expected::unmet,
            {}};
    for (const TitleCount& count : cell.titles) {
      each.titles[analysis.signatures[count.signature].title] = count.failures;
    }
  }
  return facts;
}

RunFacts run_facts(const std::string& name, const nlohmann::json& report) {
  RunFacts facts;
  facts.name = name;
  const std::string remedy = "Name the folder of a run, or the report.json of one";
  try {
    read_report(facts, report);
  } catch (const nlohmann::json::exception&) {
    throw InputError(printable(name), "is no report of mpsprobe, or one that is damaged", remedy);
  } catch (const std::exception& error) {
    throw InputError(printable(name),
                     "holds a cell that cannot be read: " + printable(error.what()), remedy);
  }
  return facts;
}

}  // namespace mpsprobe
