#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "tools/runner/history/database.h"
#include "tools/runner/history/history_file.h"

// What the history answers.

namespace mpsprobe {
namespace {

using SeriesKey = std::tuple<std::string, std::string, std::string, bool>;

NightRow night_of(const Statement& row) {
  NightRow night{
      row.text(4),   row.text(5), row.text(6), row.text(7), {row.number(8), row.number(9)},
      row.number(10)};
  night.seen.failures = std::min(night.seen.failures, night.seen.trials);
  return night;
}

}  // namespace

std::vector<RunFacts> HistoryFile::before(const KeptRun& kept) const {
  const Database& database = *database_;
  const RunFacts& run = kept.facts;
  std::set<std::string> itself;
  for (const std::string& part : kept.parts) {
    Statement sharing(database, "SELECT run FROM part WHERE id = ?");
    sharing.with(part);
    while (sharing.next()) itself.insert(sharing.text(0));
  }
  std::vector<RunFacts> nights;
  Statement rows(database,
                 "SELECT id, started, matrix, facts, simulated, planned, undone FROM run WHERE "
                 "machine = ? AND started <= ? ORDER BY started, id");
  rows.with(machine_label(run.machine)).with(run.started);
  while (rows.next()) {
    if (itself.contains(rows.text(0))) continue;
    RunFacts night;
    night.name = rows.text(0);
    night.started = rows.text(1);
    night.matrix = rows.text(2);
    night.machine = nlohmann::json::parse(rows.text(3), nullptr, false);
    night.simulated = rows.number(4) != 0;
    night.planned = rows.number(5);
    night.undone = rows.number(6);
    nights.push_back(std::move(night));
  }
  for (RunFacts& night : nights) {
    Statement cells(database,
                    "SELECT arm, cell, library, simulated, trials, failures, library_name, "
                    "version, paravirtual, refused FROM cell WHERE run = ?");
    cells.with(night.name);
    while (cells.next()) {
      const std::string id = cells.text(1);
      if (!run.cells.contains({cells.text(0), id})) continue;
      CellFacts& cell = night.cells[{cells.text(0), id}];
      cell.cell = parse_cell(id);
      cell.simulated = cells.number(3) != 0;
      cell.planned = cell.counted = cells.number(4);
      cell.failures = std::min(cells.number(5), cell.counted);
      cell.paravirtual = cells.number(8) != 0;
      cell.refused = cells.number(9);
      ArmFacts& arm = night.arms[cells.text(0)];
      arm.library = cells.text(2);
      arm.library_name = cells.text(6);
      arm.version = cells.text(7);
    }
    Statement titles(database,
                     "SELECT arm, cell, signature, failures, outcome FROM signature WHERE run = ?");
    titles.with(night.name);
    while (titles.next()) {
      const auto cell = night.cells.find({titles.text(0), titles.text(1)});
      if (cell == night.cells.end()) continue;
      cell->second.titles[titles.text(2)] = std::min(titles.number(3), cell->second.counted);
      if (const auto outcome = named<Outcome>(titles.text(4))) {
        night.outcomes[titles.text(2)] = *outcome;
      }
    }
  }
  return nights;
}

std::vector<RunRow> HistoryFile::runs() const {
  Statement rows(
      *database_,
      "SELECT run.id, started, machine, system, run.simulated, planned, undone, count(cell), "
      "total(trials), total(failures), group_concat(DISTINCT library) FROM run LEFT JOIN cell ON "
      "cell.run = run.id GROUP BY run.id ORDER BY started, run.id");
  std::vector<RunRow> runs;
  while (rows.next()) {
    runs.push_back({rows.text(0), rows.text(1), rows.text(2), rows.text(3), rows.number(4) != 0,
                    rows.number(5), rows.number(6), rows.number(7), rows.number(8), rows.number(9),
                    rows.text(10)});
  }
  return runs;
}

std::vector<Series> HistoryFile::series() const {
  Statement rows(*database_,
                 "SELECT machine, arm, cell, cell.simulated, run.id, started, system, library, "
                 "failures, trials, refused FROM cell JOIN run ON cell.run = run.id ORDER BY "
                 "machine, arm, cell, cell.simulated, started, run.id");
  std::vector<Series> all;
  SeriesKey last;
  while (rows.next()) {
    const SeriesKey key{rows.text(0), rows.text(1), rows.text(2), rows.number(3) != 0};
    if (all.empty() || key != last) {
      all.push_back({rows.text(0), rows.text(1), rows.text(2), rows.number(3) != 0, {}});
    }
    last = key;
    all.back().nights.push_back(night_of(rows));
  }
  return all;
}

std::vector<SignatureSeries> HistoryFile::signatures() const {
  std::map<std::tuple<std::string, std::string, std::string>, int>
      failures;  // run, cell key, title
  std::map<SeriesKey, std::set<std::string>> titles;
  Statement rows(*database_,
                 "SELECT machine, signature.arm, signature.cell, cell.simulated, signature.run, "
                 "signature, signature.failures FROM signature JOIN cell USING(run, arm, cell) "
                 "JOIN run ON run.id = signature.run");
  while (rows.next()) {
    titles[{rows.text(0), rows.text(1), rows.text(2), rows.number(3) != 0}].insert(rows.text(5));
    failures[{rows.text(4), rows.text(1) + '\n' + rows.text(2), rows.text(5)}] = rows.number(6);
  }
  std::vector<SignatureSeries> all;
  for (const Series& series : this->series()) {
    const auto found = titles.find({series.machine, series.arm, series.cell, series.simulated});
    if (found == titles.end()) continue;
    for (const std::string& title : found->second) {
      SignatureSeries one{series, title};
      for (NightRow& night : one.series.nights) {
        const auto count = failures.find({night.run, series.arm + '\n' + series.cell, title});
        night.seen.failures =
            count == failures.end() ? 0 : std::min(count->second, night.seen.trials);
      }
      all.push_back(std::move(one));
    }
  }
  return all;
}

}  // namespace mpsprobe
